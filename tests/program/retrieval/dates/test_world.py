"""Dates in the languages of ``words_world.py``, as they stand in questions: from Thursday 13 November 2025."""

from __future__ import annotations

from datetime import date

import pytest
from queryplan.data.sources import Calendar
from queryplan.program.retrieval.dates.finding import find_dates, resolve_dates

TODAY = date(2025, 11, 13)
SPRINTS = Calendar(first_sprint=30, first_day=date(2025, 5, 12), sprint_days=14)
UNDATED = (
    "які баги ще відкриті в проєкті ember?",
    "хто відповідає за helpdesk",
    "покажи завдання до релізу 3.0",
    "що сталося з пайплайном після злиття?",
    "між якими гілками конфлікт?",
    "з чого почати новому розробнику",
    "ποια bugs είναι ανοιχτά στο ember;",
    "από ποιον έγινε το merge;",
    "πόσα tickets έχουμε μέχρι στιγμής χωρίς υπεύθυνο;",
    "μετά το login η σελίδα κολλάει",
    "πριν κάνω deploy τι πρέπει να ελέγξω;",
    "μεταξύ των δύο λύσεων ποια επιλέξαμε;",
    "care buguri sunt mai vechi decât celelalte?",
    "de la cine a venit merge requestul",
    "ce mai e de făcut la ember?",
    "cine face review mai des",
    "după login pagina se blochează",
    "până unde a ajuns migrarea",
    "între ce ramuri e conflict?",
    "mitkä bugit ovat auki emberissä?",
    "kuka omistaa helpdeskin",
    "mitä tehdään ennen julkaisua",
    "kuinka monta tikettiä ilman omistajaa",
    "kirjautumisen jälkeen sivu jumittaa",
    "ke ti to ma näkyvät kalenterissa väärin",
    "mely hibák vannak nyitva az emberben?",
    "ki felel a helpdeskért",
    "hét jegy van gazda nélkül",
    "bejelentkezés után lefagy az oldal",
    "mi a különbség a két ág között",
    "bug apa saja yang masih terbuka di ember?",
    "siapa yang bertanggung jawab atas helpdesk",
    "setelah login halamannya macet",
    "sebelum rilis apa yang harus dicek",
    "dari mana error ini berasal",
    "antara dua cabang itu mana yang benar",
    "lỗi nào còn mở trong ember?",
    "ai phụ trách helpdesk",
    "có năm ticket chưa ai nhận",
    "thứ tư trong danh sách là gì",
    "trước khi deploy cần kiểm tra gì",
    "sau khi đăng nhập trang bị treo",
    "qua được bước kiểm thử chưa",
    "ember में कौन से बग खुले हैं?",
    "helpdesk किसके पास है",
    "लॉगिन के बाद पेज अटक जाता है",
    "रिलीज से पहले क्या जांचना है",
    "किसने मर्ज किया और किस से पूछें",
    "ما هي الأخطاء المفتوحة في ember؟",
    "من المسؤول عن helpdesk",
    "بعد تسجيل الدخول تتوقف الصفحة",
    "ماذا نفحص قبل الإصدار",
    "ما الفرق بين الفرعين",
    "тестовая среда не поднимается",
    "в среде разработки всё падает",
    "který projekt je po termínu a od koho",
    "pazar payı raporu kimde",
    "화면이 멈추는 버그는 누구 담당이야?",
)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("які задачі закрили у вересні 2025 року?", "2025-09-01/2025-09-30"),
        ("покажи баги з минулої п’ятниці", "2025-11-07/2025-11-13"),
        ("баги до кінця минулого місяця", "../2025-10-31"),
        ("από την 1η Οκτωβρίου", "2025-10-01/2025-11-13"),
        ("bugs μεχρι την παρασκευη", "../2025-11-07"),
        ("ce s-a închis luni?", "2025-11-10/2025-11-10"),
        ("ce s-a închis în ultimele 3 luni?", "2025-08-13/2025-11-13"),
        ("câte buguri de luni?", "2025-11-10/2025-11-13"),
        ("mitä suljettiin maanantaista perjantaihin?", "2025-11-10/2025-11-14"),
        ("bugit syyskuusta lokakuuhun", "2025-09-01/2025-10-31"),
        ("lokakuun alussa suljetut", "2025-10-01/2025-10-10"),
        ("jegyek szeptembertől októberig", "2025-09-01/2025-10-31"),
        ("mit zártunk le november 3-tól november 7-ig?", "2025-11-03/2025-11-07"),
        ("hány jegy van a 45-ös sprintben?", "2025-12-08/2025-12-21"),
        ("mi történt a múlt héten?", "2025-11-03/2025-11-09"),
        ("tiket 3 hari yang lalu", "2025-11-10/2025-11-10"),
        ("tiket 3 hari terakhir", "2025-11-10/2025-11-13"),
        ("tiket hari Minggu", "2025-11-09/2025-11-09"),
        ("lỗi từ tháng 9 đến nay", "2025-09-01/2025-11-13"),
        ("3 ngày trước ai đã merge?", "2025-11-10/2025-11-10"),
        ("lỗi vào thứ sáu", "2025-11-07/2025-11-07"),
        ("अक्टूबर और नवंबर के बीच क्या हुआ?", "2025-10-01/2025-11-13"),
        ("3 नवंबर से पहले के बग", "../2025-11-02"),
        ("ما الذي أغلق بين 3 و7 نوفمبر؟", "2025-11-03/2025-11-07"),
        ("ما الذي تغير بين أكتوبر ونوفمبر؟", "2025-10-01/2025-11-13"),
        ("خلال الأسبوعين الماضيين", "2025-10-30/2025-11-13"),
        ("3 Kasım'dan önce kapananlar", "../2025-11-02"),
        ("3 ile 7 Kasım arasında", "2025-11-03/2025-11-07"),
        ("что закрыли с начала октября?", "2025-10-01/2025-11-13"),
    ],
)
def test_a_date_is_found_in_a_question(text: str, days: str) -> None:
    (found,) = resolve_dates(find_dates(text), TODAY, SPRINTS)
    assert found.period is not None, found.why
    assert found.period.text() == days


def test_hindi_kal_does_not_say_which_day() -> None:
    (found,) = resolve_dates(find_dates("कल क्या बंद हुआ?"), TODAY)
    assert found.period is None
    assert "does not say which" in found.why


@pytest.mark.parametrize("text", UNDATED)
def test_other_words_are_no_dates(text: str) -> None:
    assert find_dates(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "who was Marcus Aurelius?",
        "the team in Maine",
        "does joi validate it?",
        "wir müssen uns heute nicht eilen",
        "-e -a",
    ],
)
def test_words_of_old_languages_stay_what_they_are(text: str) -> None:
    assert [said for said in find_dates(text) if said != "heute"] == []
