#!/usr/bin/env python3
"""Finds arithmetic that could stop the program because of a number from outside.

Swift's integer operators, conversions and ranges trap if a result does not fit. So values from a wire, a file, the
database or a client must go through `CheckedNumber` (Sources/WireValues), whose results are optional. This script
recognizes such values by their names (NAMES below). It reports every operator, conversion and range that uses one of
them, except

- on a line that uses `CheckedNumber`, `saturatingSum` or `checkedSum`,
- on a line that ends in a mark with its reason, or that follows a line with only a mark:
                                                    let rest = size - offset  // checked: 0 ≤ offset ≤ size
- in a file with a mark for the whole file, for parsers whose positions are indices of an array in memory:
                                                    // checked file: positions are indices of `bytes`

A mark needs a reason. Usage:

    lint-numbers.py [FILE or DIRECTORY]...    default: Sources; exit status 1 if something is found
    lint-numbers.py --self-test               checks that the rules find what they must, and nothing else
"""

import pathlib
import re
import sys

# The last part of a name: `progress.total` and `total` are the same here.
NAMES = """
  acknowledged attempt attemptNumber bytesDone bytesOnDisk bytesPerSecond bytesReceived bytesSent bytesTotal chunk
  completed contentLength crashes decoded encoded end expires fence first last length limitRate
  lowerBound maximumAppend maximumSize milliseconds modified most moved nanoseconds next offset onDisk overlap
  overlapLeft partNumber partSize position priority rate received resumedFrom retryAfter retryDelay seconds sent size
  start storedTotal told total totalBytes tries tv_nsec tv_sec st_size upperBound wanted written
""".split()

NAME = r"(?:" + "|".join(NAMES) + r")\b(?!\s*\()"
# A path of members that ends in one of the names and is not an argument label.
OPERAND = r"(?:[A-Za-z_$][\w$]*[?!]?\.)*" + NAME + r"(?![?!]?\.)(?!:)[?!]?"
# Narrower than 64 bits, or unsigned. A signed 64-bit number fits `Int`, `Int64` and `off_t` on all supported machines.
NARROW = r"(?:Int8|Int16|Int32|UInt|UInt8|UInt16|UInt32|UInt64)"
NUMBER = r"(?:Int|Int64|off_t|time_t|" + NARROW[3:]
# Names of values that are often a Double.
FLOATING = r"(?:[A-Za-z_$][\w$]*[?!]?\.)*(?:interval|milliseconds|most|rate|seconds)"

RULES = [
    ("an operator that traps on overflow", re.compile(r"(?<![\w.])" + OPERAND + r"\)*\s[-+*]\s(?!\")|[\w)\]]\s[-+*]\s(?:\w+\()*" + OPERAND)),
    ("an assignment that traps on overflow", re.compile(OPERAND + r"\s[-+*]=\s|\s[-+*]=\s(?:\w+\()*" + OPERAND)),
    ("a division by a value that may be 0", re.compile(r"\s[/%]=?\s" + OPERAND)),
    ("a negation that traps", re.compile(r"(?:^|[\s(,:])-" + OPERAND)),
    ("a conversion that traps", re.compile(r"(?<![\w.])" + NARROW + r"\(" + OPERAND + r"\)")),
    (
        "a conversion of a Double that traps",
        re.compile(
            r"(?<![\w.])" + NUMBER + r"\((?!exactly:)(?:" + FLOATING + r"\b|[^:]*(?:\.rounded\(|Double\(|inSeconds|timeInterval))"),
    ),
    ("a range that traps if its ends are reversed", re.compile(OPERAND + r"\s?\.\.[.<]\s?[\w(]|[\w)]\s?\.\.[.<]\s?" + OPERAND)),
    ("a count that traps below 0", re.compile(r"\.(?:prefix|suffix|dropFirst|dropLast|removeFirst|removeLast)\(" + OPERAND + r"\)|\bcount: " + OPERAND + r"\s*\)")),
    ("keys that trap if two are equal", re.compile(r"uniqueKeysWithValues")),
]

SAFE = re.compile(r"CheckedNumber\(|saturatingSum\(|checkedSum|ReportingOverflow\(")
MARK = re.compile(r"(\S?)\s*//\s*checked:(.*)$")
FILE_MARK = re.compile(r"^\s*//\s*checked file:(.*)$", re.M)
SHORTEST_REASON = 8


def code(text):
    """The text without comments and without the text of string literals; their interpolations stay."""
    out, i, stack = [], 0, []
    # The stack holds the terminators of open literals and, for interpolations, the number of open parentheses.
    while i < len(text):
        inside = stack and isinstance(stack[-1], str)
        if inside:
            end = stack[-1]
            pounds = end.lstrip('"')
            if text.startswith("\\" + pounds + "(", i):
                out.append("(")
                stack.append(1)
                i += 2 + len(pounds)
            elif text.startswith(end, i):
                out.append('"')
                stack.pop()
                i += len(end)
            elif text[i] == "\\" and not pounds:
                i += 2
            else:
                if text[i] == "\n":
                    out.append("\n")
                i += 1
            continue
        if text.startswith("//", i):
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
        elif text.startswith("/*", i):
            end = text.find("*/", i)
            end = len(text) if end < 0 else end + 2
            out.append("\n" * text.count("\n", i, end))
            i = end
        elif literal := re.compile(r'(#*)("""|")').match(text, i):
            out.append('"')
            stack.append(literal[2] + literal[1])
            i = literal.end()
        else:
            if stack and text[i] in "()":
                stack[-1] += 1 if text[i] == "(" else -1
                if stack[-1] == 0:
                    stack.pop()
            out.append(text[i])
            i += 1
    return "".join(out).split("\n")


def findings(text):
    """Line numbers and the problem on each line."""
    found = []
    whole = FILE_MARK.search(text)
    if whole and len(whole[1].strip()) >= SHORTEST_REASON:
        return found
    if whole:
        found.append((text.count("\n", 0, whole.start()) + 1, "a mark without a reason"))
    lines = text.split("\n")
    for number, line in enumerate(code(text), 1):
        mark = MARK.search(lines[number - 1])
        above = MARK.search(lines[number - 2]) if number > 1 else None
        if mark and len(mark[2].strip()) < SHORTEST_REASON:
            found.append((number, "a mark without a reason"))
        if mark or above and not above[1]:
            continue
        if SAFE.search(line):
            continue
        for what, rule in RULES:
            if rule.search(line):
                found.append((number, what))
                break
    return found


MUST_FIND = [
    "end = last + 1",
    "let length = last - first + 1",
    "size: rest < 0 ? nil : rest + offset,",
    'throw failed("\\(total - onDisk) are needed")',
    'throw failed(#"\\#(total - onDisk) are needed"#)',
    "offset += Int64(count)",
    "count += part.size",
    "let parts = total / progress.partSize",
    "let back = -offset",
    "let value = UInt64(status.st_size)",
    "let value = Int((x * 2).rounded())",
    "let value = Int64(Double(done) / 2)",
    "let value = Int64(seconds)",
    "let value = UInt32(length)",
    "for byte in start..<end {",
    "let range = 0..<file.size",
    "let head = text.prefix(length)",
    "let text = String(repeating: x, count: length)",
    "Dictionary(uniqueKeysWithValues: pairs)",
    "modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000",
    "let rest = size - offset  // checked:",
    "let rest = size - offset  // checked: no",
    "let x = 1  // checked: 0 ≤ offset ≤ size\nlet rest = size - offset",
    "// checked file: \n",
]

MUST_NOT_FIND = [
    "guard let end = (CheckedNumber(last) + 1).value else { return nil }",
    "let sum = offset.saturatingSum(sent)",
    "let rest = size - offset  // checked: 0 ≤ offset ≤ size",
    "// checked: 0 ≤ offset ≤ size\nlet rest = size - offset",
    "// checked file: positions are indices of `bytes`\nposition += 1",
    "let text = \"last + 1\"",
    "let text = #\"last + 1 \\(size - 1)\"#",
    "// last + 1",
    "/* last + 1 */ let x = 1",
    "let x = index + 1",
    "case 200..<300: break",
    "let size = Int64(status.st_size)",
    "let value = Int(exactly: number.rounded())",
    "text += \"; \\(percent)% of \\(size(total))\"",
    "let text = first() + name",
    "call(size: 5, total: 6)",
    "let x = total &+ 1",
    "let y = words.first.map { $0 }",
    "if size > limit, offset < total { }",
]


def self_test():
    wrong = [f"not found: {line}" for line in MUST_FIND if not findings(line)]
    wrong += [f"found: {line}" for line in MUST_NOT_FIND if findings(line)]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(__file__).resolve().parent.parent
    files = []
    for place in [pathlib.Path(a) for a in arguments] or [root / "Sources"]:
        files += sorted(place.rglob("*.swift")) if place.is_dir() else [place]
    count = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        lines = text.split("\n")
        for number, what in findings(text):
            count += 1
            shown = file.relative_to(root) if file.is_relative_to(root) else file
            print(f"{shown}:{number}: {what}: {lines[number - 1].strip()}")
    if count:
        print(f"{count} found. Use CheckedNumber, or end the line in `// checked: REASON` if the bounds are proven.")
    return 1 if count else 0


sys.exit(main(sys.argv[1:]))
