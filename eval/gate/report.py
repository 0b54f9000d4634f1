"""The gate's verdict for people and build servers: Markdown and JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree

from .judging import Check, GateResult

_SIGNS = {"pass": "✅", "fail": "❌", "inconclusive": "❔"}


NOTHING = "no number of rows"
_NEVER = {"new rows": "new ones"}

HEADINGS = ("asked", "answer", "rows", "found", "allowed", "rows that would decide")


def gate_cells(check: Check) -> tuple[str, ...]:
    """The cells of a check in a table with `HEADINGS`."""
    relative = check.kind == "not worse"
    found = "" if check.found is None else check.found.in_points if relative else check.found.spelled(".3g")
    sign = "at most" if check.kind in ("ceiling", "injections", "new rows") else "at least"
    allowed = f"{100 * check.limit:+.1f} points" if relative else f"{sign} {check.limit:g}"
    needed = "" if check.verdict != "inconclusive" else str(check.rows_needed or _NEVER.get(check.kind, NOTHING))
    name = check.measure if check.part is None else f"{check.measure} on {check.part}"
    return (name, check.verdict, str(check.rows), found, allowed, needed)


def not_judged(result: GateResult) -> str:
    """A line on the parts that are too small to be judged; empty if there are none."""
    small = [f"{c.part or c.measure} ({c.rows})" for c in result.with_verdict("not judged")]
    return f"Not judged, for too few rows: {'; '.join(small)}." if small else ""


def gate_markdown(result: GateResult) -> str:
    """A heading with the answer, a table of every check that was judged, and the parts that were not."""
    lines = [
        f"# Gate: {result.verdict}",
        "",
        f"{result.who}, on {result.rows} rows of {result.conversations} conversations "
        f"(data {result.data_fingerprint}); {100 * result.level:g} % intervals over conversations.",
        "",
        f"| {' | '.join(HEADINGS)} |",
        f"|{'---|' * len(HEADINGS)}",
        *(_line(check) for check in result.checks if check.verdict != "not judged"),
        *_notes(result),
    ]
    return "\n".join(lines) + "\n"


def gate_junit(result: GateResult) -> str:
    """One test case for each check: a failure, an error if inconclusive, or skipped if not judged."""
    counted = {
        "tests": len(result.checks),
        "failures": len(result.with_verdict("fail")),
        "errors": len(result.with_verdict("inconclusive")),
        "skipped": len(result.with_verdict("not judged")),
    }
    suite = ElementTree.Element("testsuite", {"name": "queryplan gate", **{k: str(n) for k, n in counted.items()}})
    for check in result.checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "queryplan.gate", "name": _clean(check.name)})
        kind = {"fail": "failure", "inconclusive": "error", "not judged": "skipped"}.get(check.verdict)
        if kind is not None:
            ElementTree.SubElement(case, kind, {"message": _clean(check.sentence)})
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _line(check: Check) -> str:
    name, verdict, *rest = gate_cells(check)
    cells = (name, f"{_SIGNS[verdict]} {verdict}", *rest)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"


def _notes(result: GateResult) -> list[str]:
    notes = [c.sentence for c in result.checks if c.kind == "injections"]
    notes += [text] if (text := not_judged(result)) else []
    return [line for note in notes for line in ("", note.replace("\n", " "))]


def _clean(text: str) -> str:
    """Without the control characters that XML cannot hold; row ids and slices may have any."""
    return "".join(c for c in text if c >= " " and c not in "\ufffe\uffff" and not 0xD800 <= ord(c) <= 0xDFFF)
