/** Words in many charsets, and their octets as other programs write them (base64). */

export interface CharsetWord {
  charset: string
  text: string
  octets: string
}

export const CHARSET_WORDS: readonly CharsetWord[] = [
  { charset: "iso-8859-1", text: "Grüße für Zoë", octets: "R3L832UgZvxyIFpv6w==" },
  { charset: "iso-8859-2", text: "Zażółć gęślą jaźń", octets: "WmG/87PmIGfqtmyxIGphvPE=" },
  { charset: "iso-8859-3", text: "Ĝis la ŝtono", octets: "2GlzIGxhIP50b25v" },
  { charset: "iso-8859-4", text: "Ķēniņš un šķīvis", octets: "07puafG5IHVuILnz73Zpcw==" },
  { charset: "iso-8859-5", text: "Привет, мир", octets: "v+DY0tXiLCDc2OA=" },
  { charset: "iso-8859-6", text: "مرحبا بالعالم", octets: "5dHNyMcgyMfk2cfk5Q==" },
  { charset: "iso-8859-7", text: "Καλημέρα κόσμε", octets: "yuHr5+zd8eEg6vzz7OU=" },
  { charset: "iso-8859-8", text: "שלום עולם", octets: "+ezl7SDy5ezt" },
  { charset: "iso-8859-9", text: "İstanbul'da güneş", octets: "3XN0YW5idWwnZGEgZ/xuZf4=" },
  { charset: "iso-8859-10", text: "Þórður sækir Ŋ", octets: "3vNy8HVyIHPma2lyIK8=" },
  { charset: "iso-8859-13", text: "Žąsų šėrimas", octets: "3uBz+CDw63JpbWFz" },
  { charset: "iso-8859-14", text: "Dŵr a thŷ ŵy", octets: "RPByIGEgdGj+IPB5" },
  { charset: "iso-8859-15", text: "Œuvre à 5 €", octets: "vHV2cmUg4CA1IKQ=" },
  { charset: "iso-8859-16", text: "Ștefan țese €", octets: "qnRlZmFuIP5lc2UgpA==" },
  { charset: "windows-1250", text: "Příliš žluťoučký kůň „…“", octets: "UPjtbGmaIJ5sdZ1vdehr/SBr+fIghIWT" },
  { charset: "windows-1251", text: "Съешь ещё этих №", octets: "0frl+Pwg5fm4IP3y6PUguQ==" },
  { charset: "windows-1252", text: "“Curly” – 5 €", octets: "k0N1cmx5lCCWIDUggA==" },
  { charset: "windows-1253", text: "Ελληνικά €", octets: "xevr5+3p6twggA==" },
  { charset: "windows-1254", text: "Şığ ve Ğ €", octets: "3v3wIHZlINAggA==" },
  { charset: "windows-1255", text: "עברית ₪", octets: "8uH46fogpA==" },
  { charset: "windows-1256", text: "عربي پ چ €", octets: "2tHI7SCBII0ggA==" },
  { charset: "windows-1257", text: "Ąžuolas €", octets: "wP51b2xhcyCA" },
  { charset: "windows-1258", text: "Đà €", octets: "0OAggA==" },
  { charset: "koi8-r", text: "Проверка связи", octets: "8NLP18XSy8Eg09fR2sk=" },
  { charset: "koi8-u", text: "Їжак і ґанок", octets: "t9bByyCmIK3Bzs/L" },
  { charset: "gb2312", text: "你好，世界", octets: "xOO6w6OsysC95w==" },
  { charset: "gbk", text: "繁體與简体", octets: "t7Hzd8VjvPLM5Q==" },
  { charset: "gb18030", text: "𠮷野家 你好", octets: "lTSyNdKwvNIgxOO6ww==" },
  { charset: "big5", text: "繁體中文測試", octets: "wWPF6aSkpOW0+rjV" },
  { charset: "shift_jis", text: "日本語テスト", octets: "k/qWe4zqg2WDWINn" },
  { charset: "euc-jp", text: "日本語のメール", octets: "xvzL3LjspM6l4aG8pes=" },
  { charset: "iso-2022-jp", text: "件名のテスト", octets: "GyRCN29MPiROJUYlOSVIGyhC" },
  { charset: "euc-kr", text: "한국어 메일", octets: "x9Gxub7uILjewM8=" },
  { charset: "utf-8", text: "Zażółć 日本 😀", octets: "WmHFvMOzxYLEhyDml6XmnKwg8J+YgA==" },
  { charset: "utf-16be", text: "Größe 日本", octets: "AEcAcgD2AN8AZQAgZeVnLA==" },
  { charset: "utf-16le", text: "Größe 日本", octets: "RwByAPYA3wBlACAA5WUsZw==" },
  { charset: "macintosh", text: "Größe é", octets: "R3Kap2Ugjg==" },
  { charset: "utf-7", text: "Grüße 日本", octets: "R3IrQVB3QTN3LWUgK1plVm5MQS0=" },
  { charset: "hz-gb-2312", text: "你好世界", octets: "fntEYzpDSkA9Z359" },
  { charset: "iso-2022-kr", text: "한국어", octets: "GyQpQw5HUTE5Pm4P" },
  { charset: "us-ascii", text: "plain words", octets: "cGxhaW4gd29yZHM=" },
  { charset: "windows-874", text: "สวัสดี", octets: "ysfRyrTV" },
  { charset: "tis-620", text: "สวัสดีครับ", octets: "ysfRyrTVpMPRug==" },
  { charset: "ibm866", text: "Привет", octets: "j+CooqXi" },
]
