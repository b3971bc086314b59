"""Runs a module as if its user had another profile: ``as_user LOCALAPPDATA MODULE ARGUMENT…``.

Wine names each program's directories itself, whatever the environment says that it was started
with.
"""

import os
import runpy
import sys


def main(local_application_data: str, module: str, *arguments: str) -> None:
    """Run the module here, with these arguments."""
    os.environ["LOCALAPPDATA"] = local_application_data
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
