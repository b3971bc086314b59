"""What ends a model's run, beside what the machine itself refuses (:mod:`farhand.errors`)."""


class ModelError(Exception):
    """The root of these errors."""


class NotConfirmed(ModelError):
    """The vendor wants a person to confirm a turn, and nobody did.  Nothing of it has happened."""


class OutOfSteps(ModelError):
    """The model has not come to an end within the turns that it was given."""


class ActionFailed(ModelError):
    """An action did not succeed, and the vendor's own loop cannot tell the model so."""
