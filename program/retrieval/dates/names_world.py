"""Names of months and weekdays in the languages of ``words_world.py``, made of their stems and endings.

The stems of a row are in the order of the calendar, with ``-`` where one takes the endings of another row; of the
endings ``_`` is none. Within a stem ``_`` is a space.
"""

from __future__ import annotations

from collections.abc import Iterator

from .words_more import Word

_MONTHS = (
    ("січ - берез квіт трав черв лип серп верес жовт - груд", "ень ня ні нем"),
    ("- лют - - - - - - - - - -", "ий ого ому им"),
    ("- - - - - - - - - - листопад -", "_ а і ом"),
    ("ιανουάρι φεβρουάρι μάρτι απρίλι μάι ιούνι ιούλι αύγουστ σεπτέμβρι οκτώβρι νοέμβρι δεκέμβρι", "ος ο"),
    ("ιανουαρί φεβρουαρί μαρτί απριλί μαΐ ιουνί ιουλί αυγούστ σεπτεμβρί οκτωβρί νοεμβρί δεκεμβρί", "ου"),
    ("γενάρ φλεβάρ μάρτ απρίλ μά ιούν ιούλ - σεπτέμβρ οκτώβρ νοέμβρ δεκέμβρ", "η ης"),
    ("ianuarie februarie martie aprilie - iunie iulie - septembrie octombrie noiembrie decembrie", "_"),
    (
        "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
        "_ n ta ssa lla",
    ),
    (
        "január február március április május június július augusztus szeptember október november december",
        "_ ban ben i ra re án én jén ában ében",
    ),
    ("- - maret - - - - agustus - - - -", "_"),
    ("tháng_1 tháng_2 tháng_3 tháng_4 tháng_5 tháng_6 tháng_7 tháng_8 tháng_9 tháng_10 tháng_11 tháng_12", "_"),
    ("tháng_01 tháng_02 tháng_03 tháng_04 tháng_05 tháng_06 tháng_07 tháng_08 tháng_09 - - -", "_"),
    ("जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर", "_"),
    ("- फ़रवरी - - - - - - सितम्बर अक्तूबर नवम्बर दिसम्बर", "_"),
    ("يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر", "_"),
    ("كانون_الثاني شباط آذار نيسان أيار حزيران تموز آب أيلول تشرين_الأول تشرين_الثاني كانون_الأول", "_"),
    # Czech, Russian and Turkish in further cases.
    ("ledn únor březn dubn květn červn červenc srpn - říjn - prosinc", "em"),
    ("- - - - - - - - zářím - listopadem -", "_"),
    ("январ феврал - апрел - июн июл - сентябр октябр ноябр декабр", "ём ю"),
    ("- - март - - - - август - - - -", "ом у"),
    ("ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık", "ta te da de tan ten dan den"),
    ("ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık", "_ayında _ayından _ayı"),
)
_WEEKDAYS = (
    ("понеділ вівтор - - - - -", "ок ка ку ком"),
    ("- - серед - п'ятниц субот неділ", "а у и я ю і ею ою"),
    ("- - - четвер - - -", "_ га гу гом"),
    ("δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή", "_ ς"),
    ("- marți miercuri - vineri sâmbătă duminică", "_"),
    ("maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai", "_ na n ta"),
    ("- - keskiviiko - - - -", "n sta lla"),
    ("hétfő kedd szerda csütörtök péntek szombat vasárnap", "_"),
    ("hétfőn kedden szerdán csütörtökön pénteken szombaton -", "_"),
    ("hétfői keddi szerdai csütörtöki pénteki szombati vasárnapi", "_"),
    ("senin selasa rabu kamis jumat sabtu -", "_"),
    ("hari_senin hari_selasa hari_rabu hari_kamis hari_jumat hari_sabtu hari_minggu", "_"),
    ("thứ_hai thứ_ba thứ_tư thứ_năm thứ_sáu thứ_bảy chủ_nhật", "_"),
    ("thứ_2 thứ_3 thứ_4 thứ_5 thứ_6 thứ_7 -", "_"),
    ("सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार", "_"),
    ("- - - बृहस्पतिवार - - इतवार", "_"),
    ("الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد", "_"),
    ("الإثنين - - - - - -", "_"),
    ("يوم_الاثنين يوم_الثلاثاء يوم_الأربعاء يوم_الخميس يوم_الجمعة يوم_السبت يوم_الأحد", "_"),
    # Czech, Russian and Turkish in further cases.
    ("pondělím úterým středou čtvrtkem pátkem sobotou nedělí", "_"),
    ("понедельник вторник - - - - -", "у ом"),
    ("- - сред - пятниц суббот -", "ой ей"),
    ("- - - четверг - - воскресень", "у ом ю ем"),
    ("pazartesi salı çarşamba perşembe cuma cumartesi pazar", "_günü _gününden"),
)
OTHER_WORDS = frozenset(
    "thứ hai|thứ ba|thứ tư|thứ năm|thứ sáu|thứ bảy|thứ 2|thứ 3|thứ 4|thứ 5|thứ 6|thứ 7|среда|среду|среды|средой"
    "|лютий|лютого|лютому|лютим|τρίτη|τετάρτη|πέμπτη|τριτη|τεταρτη|πεμπτη|τρίτησ|τετάρτησ|πέμπτησ|الاثنين|الإثنين"
    "|الأحد|الاحد|آب|اب|pazar|senin".split("|")
)
"""Months and weekdays of these languages that are other words, too (``words.FIRM``)."""


def names() -> Iterator[tuple[str, Word]]:
    """Every spelling of these months and weekdays, with which one it is."""
    for kind, first, rows in (("month", 1, _MONTHS), ("weekday", 0, _WEEKDAYS)):
        for stems, endings in rows:
            for value, stem in enumerate(stems.split(), first):
                for ending in endings.split() if stem != "-" else ():
                    surface = stem if ending == "_" else stem + ending
                    yield surface.replace("_", " "), Word(kind, value)
