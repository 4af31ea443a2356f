"""A summary is asked for in the language of what the person wrote."""

from __future__ import annotations

import pytest

from runs.engine.language import AS_WRITTEN, language_of

SPOKEN = {
    "English": "Find out why the export writes some rows twice, and fix it.",
    "Spanish": "Resume los documentos y responde siempre en español, por favor.",
    "French": "Trouve pourquoi les tests ne passent pas et corrige le code dans le module.",
    "German": "Finde heraus, warum die Tests nicht laufen, und ändere bitte nur das eine Modul.",
    "Portuguese": "Descubra por que os testes não passam e corrija o código do módulo.",
    "Italian": "Scopri perché i test non passano e correggi il codice della libreria.",
    "Dutch": "Zoek uit waarom de test niet werkt en maak het in het project in orde.",
    "Japanese": "テストが失敗する理由を調べて直してください。",
    "Chinese": "找出测试失败的原因并修复它。",
    "Korean": "테스트가 실패하는 이유를 찾아서 고쳐 주세요.",
    "Russian": "Найди, почему тесты падают, и исправь этот код.",
    "Ukrainian": "Підсумуй усі файли і завжди відповідай українською.",
    "Persian": "همه فایل‌ها را خلاصه کن و همیشه به فارسی پاسخ بده.",
    "Arabic": "لخص جميع الملفات وأجب دائما باللغة العربية.",
    "Thai": "สรุปไฟล์ทั้งหมดและตอบเป็นภาษาไทยเสมอ",
    "Vietnamese": "Tóm tắt tất cả các tệp và luôn trả lời bằng tiếng Việt.",
}


@pytest.mark.parametrize("language", SPOKEN)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert language_of([SPOKEN[language]]) == language


@pytest.mark.parametrize(
    "said",
    [
        "Podsumuj wszystkie pliki i zawsze odpowiadaj po polsku.",
        "Sammanfatta alla filer och svara alltid på svenska.",
        "Tüm dosyaları özetle ve her zaman Türkçe cevap ver.",
        "Tee yhteenveto kaikista tiedostoista.",
        "Обобщи всички файлове и винаги отговаряй на български.",
        "Rezumă toate fișierele și răspunde mereu în română.",
        "সব ফাইলের সারাংশ করো",
        "x = y + 1",
        "",
    ],
)
def test_a_language_that_is_not_known_is_never_called_by_another_name(said: str) -> None:
    assert language_of([said]) == AS_WRITTEN
