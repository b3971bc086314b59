import sys

from google import genai

from farhand import Farhand
from farhand.models.gemini import Computer

computer = Computer(
    Farhand().machine(sys.argv[1]),
    confirm=lambda call: input(f"May it do {call.name} {call.args}? [y] ") == "y",
)
goal = "Write hello into the open window."
response = computer.run(genai.Client(), goal, model="gemini-3.5-flash")
print(response.text)
