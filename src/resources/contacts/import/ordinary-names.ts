/**
 * Names of columns with ordinary properties of people, customers and shops. A column with another name is
 * asked about if its values look like answers; see `answer-shapes.ts`.
 */
import { LEAVING_WORDS, LEFT_WORDS } from './consent-words.ts'
import { anyPartOf, hasStem, list, tokens, wordsOf } from './contact-words.ts'

const MAIL = tokens(
  'email emails mail mails mailing mailings newsletter newsletters courriel correo correos correio correios epost poczta poczty почта почты письма',
)
/** Words of names that hold something else than an answer: links, keys, figures. */
const NO_ANSWER = tokens(
  'url urls link links token hash href uri key score rate rates ratio percent percentage pct rank quote punkte points utm',
  'page seite lien enlace',
)
const LINK_END = /(?:link|url|href|token)s?$/
const FIGURES = tokens(
  'count counts number numbers total totals anzahl nombre numero aantal liczba sum days amount antal pocet quantity qty value age visits',
  'revenue spent price nb nr',
)
/** Other subjects of status columns and flags. Words that concern nothing but mail count beside them, too. */
const OTHER_SUBJECTS = tokens(
  'order orders payment payments invoice invoices billing shipping shipment product products stock',
  'deal deals policy policies appointment booking reservation quote tax vat api factor 2fa mfa cookie cookies wifi ' +
    'trial contract warranty lease lead opportunity plan shop store cart purchase purchases purchased coupon voucher discount warranty loan marital civil family ' +
    'employment visa passport http bestellung bestell rechnung zahlung ' +
    'lieferung termin familienstand steuer commande commandes facture paiement livraison achat pedido pedidos factura pago compra ordine ordini ' +
    'fattura pagamento acquisto fatura bestelling factuur betaling zamowienie zamowienia platnosc faktura zakup заказ заказа заказов покупка ' +
    'оплата оплаты счет הזמנה תשלום طلب الطلب الدفع siparis objednavka ordre ordrer bestilling rendeles comanda',
  'dob born geb acquisti encomenda encomendas compras',
)
const OTHER_SUBJECT_PARTS = anyPartOf(
  'birth geburt naissance nacimiento nascita nascimento geboorte urodz рожден fodsel fodelse narozen dogum syntym szulet cumplean compleann urodzin verjaardag',
  '注文 購入 支払 請求 生年月日 誕生日 订单 支付 生日 訂單 付款 생년월일 주문',
)
const OTHER_CHANNELS = tokens(
  'push whats sms phone phones telephone fax faxes call calls whatsapp viber telefon ' +
    'telefonie anruf anrufe telefono telefone appel appels telefoon téléphone llamadas ' +
    'телефон звонки טלפון הاتف هاتف',
)
/** Columns with names, which may have any words. */
const NAMED = tokens(
  'company companies employer organisation organization brand city town street address country region firma unternehmen',
  'ort stadt strasse land societe entreprise ville rue pays empresa ciudad calle pais azienda citta via cidade rua bedrijf',
  'plaats straat miasto ulica компания город улица חברה עיר شركة مدينة 会社 会社名 公司 城市 nome nom county stad mesto sehir paese',
)

/** Columns with free texts, which may be about mail beside other subjects. */
const TEXTS = tokens(
  'note notes comment comments remark remarks bemerkung bemerkungen notiz notizen kommentar remarque remarques nota notas note uwagi opmerking заметки',
)

/** Properties of which a name may consist, in the singular and without endings. */
const PROPERTIES: ReadonlySet<string> = new Set(
  list(
    'breakfast captain native translator thesis major alumni graduated self employed affiliate partner investor beta tester sso onboarding done paid finished feature middle ' +
      'sibling brother sister friend garden boat bike bicycle truck computer laptop printer tv solar heating insurance pension savings income salary budget ' +
      'domain provider segment b2 driving paying thema topic deadline follow expiry expires close need needs plus parking wheelchair speaker winner leader menu meal choice theme territory org organizer organiser tongue artist genre turnover operating system temperature ' +
      'priority satisfaction review installed install probability band leader donation donated volunteer lunch hotel flight arrival accommodation car ' +
      'name nickname alias title prefix suffix salutation greeting gender sex zodiac language lang locale nationality religion education degree school ' +
      'university college course class grade year profession occupation job position role department team industry sector branch marital child ' +
      'children kid baby pet dog cat car vehicle house home hobby hobbie favourite favorite colour color size shirt height weight diet dietary requirement food ' +
      'vegetarian vegan allergy allergie gluten smoker student teacher employee staff parent guest volunteer donor sponsor press vip premium loyalty ' +
      'tier level badge bonus membership pronoun initial instrument sport club married divorced',
    'licence license stufe place state province postcode postal zip district location timezone zone latitude longitude lat lng lon venue room seat table floor building area ' +
      'distance line continent',
    'customer client buyer company business item sku category type kind group variant package currency gift wholesale retail reseller dealer exempt warehouse ' +
      'basket wishlist bought used refund tarif fee credit balance limit',
    'browser device platform os ip agent referrer referer referral source medium campaign content website web site facebook twitter instagram ' +
      'linkedin handle user username login account session app version cookie download downloaded upload photo image avatar picture file format landing form keyword ad ads',
    'created updated modified changed added joined registered registration registrant signup join since start started begin seen visit visited open opened click clicked ' +
      'activity login sent appointment meeting event check arrival wedding anniversary hire hired renewal due ' +
      'attending attended attendance attend rsvp workshop webinar conference training summit party dinner booth queue sequence sync synced import imported export',
    'ticket task stage pipeline note comment remark message description prescription bio program completed rating star nps rep sales owner assigned manager uuid external internal reference ' +
      'ref test demo delinquent manual answer question survey quiz memo text history',
    'vorname nachname anrede titel geschlecht sprache alter beruf branche abteilung funktion kategorie gruppe typ art klasse schule verein farbe grosse hobbys ' +
      'kind kinder haustier hund katze auto fuhrerschein raucher mitarbeiter schuler lehrer termin gast spender presse stammkunde kunde kundin kundentyp haendler handler ' +
      'herkunft quelle wohnort bundesland kanton postleitzahl plz hausnummer angelegt erstellt geandert registriert beitritt eintritt mitglied jubilaum hochzeit hochzeitstag ' +
      'vertrag teilnahme teilnehmer veranstaltung bemerkung kommentar notiz nummer nr karte iban konto steuerberater betreuer filiale handy essen getrank punkte gutschein skonto rabatt besuch kauf',
    'prenom nom civilite sexe langue metier profession secteur categorie groupe type classe ecole couleur taille enfant animal chien chat voiture ' +
      'employe client cliente origine source adresse departement region cree modifie ajoute inscription remarque commentaire fidelite carte magasin visite anniversaire',
    'nombre sexo idioma profesion cargo sector categoria grupo tipo clase escuela color talla hijo mascota perro coche empleado cliente origen fuente ' +
      'provincia creado modificado registro alta comentario observacion observacione tienda visita aniversario edad puntos nota',
    'nome sesso lingua professione settore categoria gruppo tipo classe scuola colore taglia figlio figli animale cane auto dipendente cliente fonte provincia ' +
      'creato modificato registrazione commento negozio visita eta punti compleanno',
    'genero lingua profissao setor escola cor tamanho filho cachorro carro funcionario fonte criado cadastro comentario loja idade pontos aniversario',
    'naam geslacht taal beroep afdeling functie groep klas kleur maat kinderen huisdier hond auto medewerker klant bron provincie aangemaakt gewijzigd ' +
      'opmerking winkel bezoek leeftijd punten verjaardag vereniging',
    'imie plec jezyk zawod stanowisko dzial kategoria grupa typ klasa szkola kolor rozmiar dziecko dzieci pies kot pracownik klient zrodlo wojewodztwo ' +
      'utworzono dodano uwagi komentarz sklep wizyta wiek punkty kraj urodziny',
    'имя фамилия пол язык профессия должность отдел категория группа тип класс школа цвет размер дети ребенок собака машина сотрудник клиент источник ' +
      'область страна создан создано изменен добавлен регистрация регистрации комментарий примечание магазин возраст баллы',
    'kon sprak yrke avdelning kategori grupp klass farg storlek barn hund bil anstalld kund kalla lan skapad anmarkning butik alder ' +
      'kjonn sprog erhverv gruppe farve storrelse medarbejder kunde kilde oprettet bemaerkning butik kommune postnr fylke',
    'pohlavi jazyk profese oddeleni kategorie skupina barva velikost deti pes zamestnanec zakaznik zdroj stat zeme kraj psc vytvoreno poznamka vek ' +
      'sukupuoli kieli ammatti ryhma maa asiakas ika cinsiyet dil meslek grup renk ulke il musteri yas nem nyelv orszag vasarlo limba tara',
  ),
)
const PROPERTY_PARTS = anyPartOf(
  'sprache langue idioma lingua jezyk язык taal sprak sprog',
  '性別 性别 言語 语言 語言 都道府県 住所 国籍 職業 職種 部署 役職 会員番号 年齢 年龄 備考 备注 備註 地址 省份 省 来源 類別 类别 区分 地域 店舗 来店 登録日 注册时间 注册日期 創建 创建 更新 성별 언어 나이 직업 지역',
)
/** What happened last or will happen next has not ended. */
const RECURRING = tokens(
  'first last latest next previous expected planned erste ersten erster letzte letzten letzter letztes nachste nachster premiere premier derniere dernier',
  'prochain prochaine primera primer primero ultima ultimo proxima proximo prima primo prossima prossimo primeira primeiro eerste laatste volgende ostatni',
  'ostatnia ostatnie pierwszy nastepny последний последняя последнее первый следующий siste forste sista forsta sidste seneste nasta posledni prvni son ilk',
)
const RECURRING_START = /^(?:erst|letzt|senaste|最終|最后|最後|最近|初回|首次)/
/** Words for having or needing something, which nobody leaves. */
const HAVING = tokens(
  'has have owns own needs need needed required hat besitzt braucht tiene posee tem ha heeft har имеет',
)
/** Words for one of several kinds, which are texts and no answers. */
const KINDS = tokens(
  'type kind sort frequency language interval plan format topic theme category typ art sprache langue tipo soort rodzaj тип idioma taal',
)
/** Words that may stand beside a property. */
const FILLERS = new Set([
  ...RECURRING,
  ...tokens(
    'b c code codigo codice default date time timestamp day month year datum zeit tag fecha hora data ora heure jour dag dato tid дата время id no n nr a an at on of the to in for from by with and or my your is has had was are as',
    'current new old main primary secondary other max min average avg preferred best most recent currently became',
    'der die das am im von zur zum und hat ist hauptsachlich de du des le la les d l et a au est',
    'el los las y es del il lo della di e da do dos o os van het een en bis until til hasta own owns owned t s up one',
  ),
])
const MODIFIER_CHARACTERS_MIN = 3
const HEAD_CHARACTERS_MIN = 5
const ENDING_CHARACTERS_MAX = 2

/** @returns whether the name says that the column is about an order, a phone, a company and the like */
export function isAboutOthers(name: string): boolean {
  const words = wordsOf(name)
  if (words.some(word => TEXTS.has(word))) return false
  const isNamed = words.some(word => NAMED.has(word)) && words.every(isNamedOrProperty)
  return hasOtherSubject(words) || isNamed || NAMED.has(words.at(-1) ?? '')
}

function isNamedOrProperty(word: string): boolean {
  return NAMED.has(word) || FILLERS.has(word) || isProperty(word)
}

/** Whether words of a name are about orders, payments, other channels and the like, and not about mail. */
export function hasOtherSubject(words: readonly string[]): boolean {
  const has = (set: ReadonlySet<string>) => words.some(word => hasStem(set, word))
  return (
    (has(OTHER_SUBJECTS) || has(OTHER_CHANNELS) || OTHER_SUBJECT_PARTS.test(words.join(''))) && !has(MAIL)
  )
}

/** Whether the words name links, keys, scores or other channels, which are no answers. */
export function isNoAnswer(words: readonly string[]): boolean {
  const has = (set: ReadonlySet<string>) => words.some(word => set.has(word))
  return has(NO_ANSWER) || LINK_END.test(words.join('')) || (has(OTHER_CHANNELS) && !has(MAIL))
}

/** Whether the words name mail. */
export function isOfMail(words: readonly string[]): boolean {
  return words.some(word => MAIL.has(word))
}

/** Whether the words name a kind of something. */
export function isKind(name: string): boolean {
  return wordsOf(name).some(word => KINDS.has(word))
}

/** Whether the words name a figure. */
export function isFigure(words: readonly string[]): boolean {
  return (
    words.some(word => FIGURES.has(word) || /(?:zahl|[^c]count|antal)$/.test(word)) ||
    (words.length === 2 && /^n[ro]$/.test(words[1]!))
  )
}

/** Whether a column of dates tells when something happened last or will happen next. */
export function isOrdinaryDate(name: string): boolean {
  const words = wordsOf(name)
  // `Last day` alone is an end
  const saysWhat = words.some(word => !FILLERS.has(word))
  return saysWhat && words.some(word => RECURRING.has(word) || RECURRING_START.test(word))
}

/**
 * Whether a name consists of words for ordinary properties, such as `Has children` or `Letzter Besuch`.
 * @param isOfMail whether words of mail may stand beside them, as in `Newsletter frequency`
 */
export function isOrdinary(name: string, isOfMail = false): boolean {
  const words = wordsOf(name).filter(word => !isOfMail || !MAIL.has(word))
  if (isAboutOthers(name) || isNoAnswer(words) || isFigure(words)) return true
  if (PROPERTY_PARTS.test(words.join(''))) return true
  if (words.some(word => LEFT_WORDS.has(word) || LEAVING_WORDS.has(word))) return false
  if (HAVING.has(words[0] ?? '') || HAVING.has(words.at(-1) ?? '')) return true
  const others = words.filter(word => !FILLERS.has(word) && !/^\d+$/.test(word))
  return others.length > 0 && others.every(isProperty)
}

/** In compounds, the last part says what the column is about. */
function isProperty(word: string): boolean {
  for (let cut = 0; cut <= ENDING_CHARACTERS_MAX; cut++) {
    const stem = word.slice(0, word.length - cut)
    if (
      PROPERTIES.has(stem) &&
      (cut === 0 || (cut === 1 ? /[^t]$/.test(word) : stem.length >= HEAD_CHARACTERS_MIN))
    )
      return true
    for (let at = MODIFIER_CHARACTERS_MIN; at <= stem.length - HEAD_CHARACTERS_MIN; at++)
      if (PROPERTIES.has(stem.slice(at))) return true
  }
  return false
}
