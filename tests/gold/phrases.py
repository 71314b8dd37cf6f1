"""Sentences at random in five languages, for bleu.py and bpe.py: words drawn by Zipf's law, which
begin, meet and end as sentences of the language do. They are not meant to mean anything."""
import random

WORDS = {
    "de": """die der das Datei Ordner und öffnen schließen Öffnen Schließen nicht kann wurde gefunden gelöscht größer
als zwei Straßen Bücher lesen schreiben Schreibschutz aufheben Zeile Spalte löschen Ansicht wählen Gerät ausschalten
neu starten Verbindung unterbrochen Übersetzung ungültig während Änderung ändern speichern Speicherplatz""".split(),
    "fr": """le la les un une fichier dossier d'une l'image ouvrir fermer n'a pas été trouvé effacé où qu'il s'agit
déjà même forêt garçon leçon œuvre naïf sélection sélectionner enregistrer enregistrement élève élevé vers le réseau
aujourd'hui impossible d'écrire peut-être rendez-vous afficher affichage""".split(),
    "cs": """soubor složka se nepodařilo otevřít zavřít nelze najít byl byla smazán smazat větší než dva knihy číst
psát řádek sloupec zvolit zařízení vypnout spojení přerušeno překlad neplatný během změna změnit uložit místo
nejneobhospodařovávatelnějšími příliš žluťoučký kůň úpěl ďábelské ódy""".split(),
    "vi": """tập tin thư mục mở đóng không thể tìm thấy đã bị xóa lớn hơn hai quyển sách đọc viết dòng cột chọn
thiết bị tắt kết nối gián đoạn bản dịch hợp lệ trong khi thay đổi lưu chỗ trống người dùng mật khẩu sai""".split(),
    "th": """แฟ้ม โฟลเดอร์ เปิด ปิด ไม่ พบ ถูก ลบ แล้ว ใหญ่ กว่า สอง หนังสือ อ่าน เขียน บรรทัด คอลัมน์ เลือก อุปกรณ์ การเชื่อมต่อ
ล้มเหลว คำแปล ไม่ถูกต้อง ระหว่าง เปลี่ยน บันทึก ที่ว่าง ผู้ใช้ รหัสผ่าน ผิดพลาด กรุณา ลองใหม่ ๒๕๖๗""".split(),
}
SIGNS = [",", ",", ":", ";", " –", "-", "/", "…", ", \"", "' ", " (", ") "]
ENDS = [".", ".", "", "", "!", "?", "...", ".\"", " (1.5 GB)", ": 10-20 %", " 3,000.50", " <b>a&b</b>"]


def sentence(language, rng):
    words = WORDS[language]
    weights = [1 / (1 + i) for i in range(len(words))]
    chosen = rng.choices(words, weights, k=rng.randint(3, 12))
    blank = "" if language == "th" else " "
    text = ""
    for word in chosen:
        sign = rng.choice(SIGNS) if rng.random() < 0.15 else ""
        text += (sign + (blank or rng.choice(["", "", "", " "])) if text else "") + word
    text += rng.choice(ENDS)
    return " ".join((text[:1].upper() + text[1:]).split())


def sentences(language, n, seed=1):
    """n sentences, which depend on the language and the seed alone."""
    rng = random.Random(f"{language} {seed}")
    return [sentence(language, rng) for _ in range(n)]
