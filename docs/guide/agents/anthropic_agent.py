import sys

from anthropic import Anthropic

from farhand import Farhand
from farhand.models.anthropic import Computer

computer = Computer(
    Farhand().machine(sys.argv[1]),
    confirm=lambda call: input(f"May it do {call.member}? [y] ") == "y",
)
goal = {"role": "user", "content": "Write hello into the open window."}
runner = Anthropic().beta.messages.tool_runner(
    model="claude-opus-5-5", max_tokens=4096, max_iterations=50, messages=[goal], tools=[computer]
)
for message in computer.turns(runner):
    print(*(block.text for block in message.content if block.type == "text"))
