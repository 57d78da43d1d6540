"""How many tests passed and failed, from what a command printed and its exit code."""

import re


def one(code, output):
    """A check is one test."""
    return (1, 0) if code == 0 else (0, 1)


def nothing_compiled(code, output):
    """Of a build that has nothing to do."""
    return (1, 0) if code == 0 and not re.search(r"^ *Compiling ", output, re.M) else (0, 1)


def cargo(code, output):
    """A line for each test: test programs with a harness of their own print no line of counts."""
    return (len(re.findall(r"^test .* \.\.\. ok", output, re.M)), len(re.findall(r"^test .* \.\.\. FAILED", output, re.M)))


def last(code, output):
    """Other runners end with "N passed, N failed"."""
    found = re.findall(r"(\d+) passed, (\d+) failed", output)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)


def unittests(code, output):
    """Python's: "Ran 12 tests", "FAILED (failures=1, errors=2)"."""
    ran = sum(int(n) for n in re.findall(r"^Ran (\d+) test", output, re.M))
    lines = re.findall(r"^FAILED \((.*)\)", output, re.M)
    bad = sum(int(n) for line in lines for n in re.findall(r"(?:failures|errors|unexpected successes)=(\d+)", line))
    return ran - bad, bad


def counted(counter, code, output):
    """A command that failed without a count of failures has failed as a whole."""
    passed, failed = counter(code, output)
    return passed, failed if failed or code == 0 else 1
