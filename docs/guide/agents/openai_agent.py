import sys

from openai import OpenAI

from farhand import Farhand
from farhand.models.openai import Computer

computer = Computer(
    Farhand().machine(sys.argv[1]),
    confirm=lambda call: input(f"May it do {call.actions}? [y] ") == "y",
)
goal = "Write hello into the open window."
response = computer.run(OpenAI(), goal, model="gpt-6-astra")
print(response.output_text)
