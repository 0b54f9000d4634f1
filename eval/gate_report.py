"""What the gate answered, for people and for build servers: Markdown and JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree

from .gate import Check, GateResult

_SIGNS = {"pass": "✅ pass", "fail": "❌ fail", "inconclusive": "❔ inconclusive", "not judged": "– not judged"}


def gate_markdown(result: GateResult) -> str:
    """A heading with the answer, and a table of every check."""
    champion = result.champion or "no champion yet"
    lines = [
        f"# Gate: {result.verdict}",
        "",
        f"{result.candidate} against {champion}, on {result.rows} rows of {result.conversations} conversations "
        f"(data {result.data_fingerprint}).",
        "",
        "| check | answer | rows | what was found |",
        "|---|---|---|---|",
        *(_line(check) for check in result.checks),
    ]
    return "\n".join(lines) + "\n"


def gate_junit(result: GateResult) -> str:
    """One test case a check: a failure where it failed, an error where it is inconclusive, skipped if not judged."""
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
    said = check.sentence.replace("|", "\\|").replace("\n", " ")
    return f"| {check.name.replace('|', ' ')} | {_SIGNS[check.verdict]} | {check.rows} | {said} |"


def _clean(text: str) -> str:
    """Without the control characters that XML cannot hold; row ids and slices may have any."""
    return "".join(c for c in text if c >= " " and c not in "\ufffe\uffff" and not 0xD800 <= ord(c) <= 0xDFFF)
