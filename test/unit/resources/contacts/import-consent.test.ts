import * as assert from 'uvu/assert'
import type { ColumnMeaning } from '../../../../src/resources/contacts/import/column-meanings.ts'
import { ConsentQuestions } from '../../../../src/resources/contacts/import/survey.ts'
import { readProperties } from '../../../../src/resources/contacts/properties.ts'
import { openAudience } from '../../../kit/audience.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts/import consent')

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
/** A row for each cell, with the addresses c0, c1 and so on. */
const fileOf = (column: string, cells: readonly string[]) =>
  `email,${quoted(column)},City\n${cells.map((cell, i) => `c${i}@there.test,${quoted(cell)},x\n`).join('')}`

async function questionsOf(importing: Promise<unknown>): Promise<ConsentQuestions> {
  const error = await importing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.instance(error, ConsentQuestions)
  return error as ConsentQuestions
}

/** The first cell is the one of somebody who has left, the others are not. */
const HONOURED: Record<string, readonly string[]> = {
  'Has hard bounced': ['true', 'false'],
  dnc: ['1', '0'],
  'Не беспокоить': ['да', 'нет'],
  no_mail: ['1', '0'],
  HasOptedOutOfEmail: ['1', '0'],
  donotbulkemail_optOut: ['Yes', 'No'],
  'Email Opt Out': ['true', 'false'],
  IsEmailBounced: ['1', '0'],
  Blacklist: ['True', 'False'],
  sub_status: ['unsubscribed', 'subscribed'],
  DNC_FLAG: ['Y', 'N'],
  'Do Not Mail': ['1', '0'],
  isHardBounced: ['TRUE', 'FALSE'],
  email_bounced: ['1.0', '0.0'],
  has_unsubscribed_from_all: ['t', 'f'],
  'Global Opt-Out': ['Yes', 'No'],
  is_suppressed: ['yes', 'no'],
  'User suppressed': ['x', ''],
  emailBlacklistFlag: ['1', '0'],
  'No marketing': ['Yes', 'No'],
  'Last event': ['Hard bounced', 'Subscribed', 'Subscribed'],
  'Mail state 2024': ['désabonné', 'abonné'],
  Bemerkung: ['abgemeldet', 'ruft gern an', 'VIP seit 2019'],
  'Kontakt gesperrt': ['WAHR', 'FALSCH'],
  Kontaktverbot: ['ja', 'nein'],
  'Keine Werbung erwünscht': ['Ja', 'Nein'],
  'E-Mail unzustellbar': ['1', '0'],
  'Liste noire': ['oui', 'non'],
  'Ne pas contacter': ['VRAI', 'FAUX'],
  'Lista negra': ['sí', 'no'],
  'No contactar': ['sí', 'no'],
  'Non contattare': ['vero', 'falso'],
  'Não contatar': ['sim', 'não'],
  'Op zwarte lijst': ['ja', 'nee'],
  'Niet mailen': ['waar', 'onwaar'],
  'Czarna lista': ['tak', 'nie'],
  'В чёрном списке': ['отписан', 'подписан'],
  'Чёрный список': ['да', 'нет'],
  'ברשימה השחורה': ['כן', 'לא'],
  'في القائمة السوداء': ['نعم', 'لا'],
  ブラックリスト: ['はい', 'いいえ'],
  donotbulkemail: ['Yes', 'No'],
  DoNotBulkEMail: ['true', 'false'],
  'Do not bulk email': ['Yes', 'No'],
  donotbulkmail: ['1', '0'],
  'No bulk mail': ['yes', 'no'],
  'Does not want marketing mail': ['yes', 'no'],
  'Keine E-Mails': ['ja', 'nein'],
  mail_status: ['nok', 'ok'],
  メール連絡不可: ['1', '0'],
  客户黑名单: ['是', '否'],
  請勿聯絡: ['是', '否'],
}
for (const [column, cells] of Object.entries(HONOURED))
  test(`import: the column ${column} tells who has left`, async t => {
    const { importFile, contacts } = await openAudience(t)
    await importFile(fileOf(column, cells))
    assert.equal(
      (await contacts()).map(({ unsubscribed }) => unsubscribed),
      cells.map((_, i) => (i === 0 ? 1 : 0)),
    )
  })

const ASKED: Record<string, readonly string[]> = {
  'Marked email as spam': ['true', 'false'],
  can_contact: ['false', 'true'],
  'Do not allow Bulk Emails': ['Do Not Allow', 'Allow'],
  'Massen-E-Mails zulassen': ['Nicht zulassen', 'Zulassen'],
  'Envoi en nombre': ['Ne pas autoriser', 'Autoriser'],
  'Correos masivos': ['No permitir', 'Permitir'],
  'Bounce check on': ['2024-05-01', '2024-05-02'],
  'Blacklist review': ['01.05.2024', ''],
  enabled: ['0', '1'],
  active: ['0', '1'],
  is_active: ['false', 'true'],
  isActive: ['0.0', '1.0'],
  statuscode: ['2', '1'],
  StatusId: ['-1', '1'],
  member_status: ['U', 'A', 'B'],
  state: ['3', '1'],
  status: ['-1', '1'],
  confirmed: ['0', '1'],
  confirmed_at: ['0000-00-00 00:00:00', '2024-05-01 10:00:00'],
  email_verified: ['FALSE', 'TRUE'],
  'On hold': ['Yes', 'No'],
  blocked: ['maybe', 'no'],
  'Account blocked': ['1', '0'],
  isDeleted: ['1', '0'],
  'Receives emails': ['No', 'Yes'],
  newsletter_sports: ['0', '1'],
  'GDPR accepted': ['no', 'yes'],
  soft_bounces: ['3', '0'],
  'Bounce category': ['mailbox full', ''],
  'Suppression list': ['Complaints EU', ''],
  'Not blacklisted': ['no', 'yes'],
  no_longer_subscribed: ['1', '0'],
  'Kunde aktiv': ['nein', 'ja'],
  'E-Mail bestätigt': ['0', '1'],
  'Client actif': ['non', 'oui'],
  'Cliente activo': ['no', 'sí'],
  'Utente attivo': ['no', 'sì'],
  'Cliente ativo': ['não', 'sim'],
  'Klant actief': ['nee', 'ja'],
  'Klient aktywny': ['nie', 'tak'],
  'Клиент активен': ['нет', 'да'],
  'לקוח פעיל': ['לא', 'כן'],
  'حساب نشط': ['لا', 'نعم'],
  有効フラグ: ['0', '1'],
  账户有效: ['否', '是'],
  帳號啟用: ['否', '是'],
  'Ne souhaite pas recevoir': ['Oui', 'Non'],
  spamreported: ['1', '0'],
  lifecycle_state: ['churned', 'active'],
  account_closed: ['1', '0'],
  'Autoriza contato': ['Não', 'Sim'],
  メルマガ配信: ['しない', 'する'],
  メールエラー: ['1', '0'],
  verification_result: ['invalid', 'valid', 'risky'],
  願意收信: ['否', '是'],
  activated: ['0', '1700000000', '1700000100', '1700000200', '1700000300', '1700000400'],
  isOptInPending: ['true', 'false'],
  'Email delivery failed': ['1', '0'],
  consent_expired: ['yes', 'no'],
  needs_confirmation: ['1', '0'],
  'Is globally ineligible': ['true', 'false'],
  email_notifications: ['0', '1'],
  'Acepta publicidad': ['no', 'sí'],
  'Riceve promozioni': ['no', 'sì'],
  'Akkoord met mailing': ['nee', 'ja'],
  受信設定: ['0', '1'],
  是否接收邮件: ['否', '是'],
  'מאשר דיוור': ['לא', 'כן'],
  'DOUBLE_OPT-IN': ['2', '1'],
  phplist_disabled: ['1', '0'],
  'Some column': ['inactive', 'active'],
  'Bulk email': ["Don't allow", 'Allow'],
  'Kontaktaufnahme untersagt': ['ja', 'nein'],
  Kontaktaufnahme: ['nein', 'ja'],
  'Darf kontaktiert werden': ['nein', 'ja'],
  'Prospection interdite': ['oui', 'non'],
  'Desea recibir publicidad': ['no', 'sí'],
  'Nessun contatto': ['sì', 'no'],
  'Sem envio de correio': ['sim', 'não'],
  'Geen contact': ['ja', 'nee'],
  'Zakaz kontaktu mailowego': ['tak', 'nie'],
  'Запрет на рассылки': ['да', 'нет'],
  'אין לשלוח דיוור': ['כן', 'לא'],
  'ممنوع التواصل': ['نعم', 'لا'],
  メール送信を禁止: ['はい', 'いいえ'],
  禁止营销邮件: ['是', '否'],
  Ausgetreten: ['ja', 'nein'],
  Austrittsdatum: ['01.05.2024', ''],
  'Austritt am': ['1. Mai 2024', ''],
  Kündigung: ['2024-05-01', ''],
  'Objection date': ['May 1, 2024', ''],
  ended: ['2024-05-01 10:00', ''],
  'Resignation date': ['12 Mar 2024', ''],
  'Legal basis': ['withdrawn consent', 'contract', 'legitimate interest', 'a', 'b', 'c'],
  Deliverability: ['undeliverable', 'risky', 'unknown', 'a', 'b', 'c'],
  Engagement: ['Suppressed', 'Warm', 'Cold', 'Hot', 'New', 'VIP'],
  Groups: ['Unsubscribes', 'Members'],
  Tags: ['vip, Unsubscribed 2023', 'vip'],
  Reason: ['not interested', 'moved', 'price', 'a', 'b', 'c'],
  Remark: ['bitte keine Werbung', 'VIP', 'a', 'b', 'c', 'd'],
  Stage: ['Consent revoked', 'VIP', 'a', 'b', 'c', 'd'],
  DOI: ['0', '1'],
  'Newsletter-Ende': ['01.02.2024', ''],
  Verstorben: ['ja', 'nein'],
  Outreach: ['paused by request', 'running'],
  'Stato consenso': ['in dubbio', 'dato'],
  'Permiso de contacto': ['no', 'sí'],
  Powód: ['brak zainteresowania', 'cena', 'a', 'b', 'c'],
  'Willing to be contacted': ['no', 'yes'],
  'E-Mail-Empfang': ['nein', 'ja'],
  'Mail kommt zurück': ['ja', 'nein'],
  Datenschutz: ['Löschung verlangt', 'ok', 'a', 'b', 'c', 'd'],
  Kontaktart: ['nicht erwünscht', 'E-Mail', 'Telefon', 'a', 'b', 'c'],
  'Correo devuelto': ['sí', 'no'],
  'DOI Status': ['offen', 'bestätigt'],
  'Delivery status': ['failed', 'done'],
  Anmeldestatus: ['offen', 'angemeldet'],
}
for (const [column, cells] of Object.entries(ASKED))
  test(`import: the column ${column} is asked about before the first row`, async t => {
    const { importFile, contacts, rows } = await openAudience(t)
    const { questions, message, part } = await questionsOf(importFile(fileOf(column, cells)))
    assert.is(part, column)
    assert.is(questions.length, 1)
    assert.equal(
      [questions[0]!.column, questions[0]!.values[0]],
      [column, { value: cells[0], row: 2, email: 'c0@there.test' }],
    )
    assert.match(message, `\`${cells[0]}\` in row 2`)
    assert.equal([await contacts(), rows('select * from contact_imports')], [[], []])
    const leaves = new Map([
      [cells[0]!.toLowerCase(), true],
      ['*', false],
    ])
    await importFile(fileOf(column, cells), { meanings: new Map([[column, leaves]]) })
    assert.equal(
      (await contacts()).map(({ unsubscribed }) => unsubscribed),
      cells.map((_, i) => (i === 0 ? 1 : 0)),
    )
  })

const HARMLESS: Record<string, readonly string[]> = {
  'First Name 2': ['Holden', 'Active'],
  Town: ['Hold', 'Bad Sperrin'],
  'Holding company': ['ACME Holding', 'No'],
  'Blockchain address': ['0xabc', '0xdef'],
  active_since: ['2020-01-01', '2021-06-30'],
  'spam score': ['0', '1', '5'],
  'Household size': ['1', '2', '0'],
  'Bounce rate': ['0', '1'],
  'Block no.': ['12', '7'],
  'Account status': ['Gold', 'Silver', 'Bronze', 'Lead', 'Prospect'],
  'Marital status': ['S', 'M'],
  order_status: ['cancelled', 'cancelled'],
  'Payment status': ['rejected', 'pending'],
  'Accepts SMS Marketing': ['no', 'no'],
  'Do not allow Phone Calls': ['Do Not Allow', 'Allow'],
  'SMS consent': ['no', 'yes'],
  'Do not call': ['1', '0'],
  'Two-factor enabled': ['false', 'true'],
  tax_exempt: ['0', '1'],
  VIP: ['0', '1'],
  Employee: ['no', 'yes'],
  'Unsubscribe link': ['https://there.test/u/1', 'https://there.test/u/2'],
  Gender: ['F', 'M'],
  'Became a subscriber date': ['2024-01-01', '2024-02-01'],
  'Currently in sequence': ['false', 'true'],
  Delinquent: ['false', 'true'],
  CONFIRM_TIME: ['2024-05-01 10:00:00', ''],
  'Customer number': ['100000001', '100000002'],
  Position: ['Head of marketing', 'Marketing assistant'],
  'Last activity': ['2024-01-01', '2023-01-01'],
  'Number of subscriptions': ['0', '1'],
  'Confirmation number': ['0', '1'],
  description: ['no', 'yes'],
  Prescription: ['no', 'yes'],
  'Valid until': ['2026-01-01', '2027-01-01'],
  Activity: ['0', '1'],
  'Active ingredient': ['Ibuprofen', 'Zinc', 'None', 'Iron', 'Water'],
  is_active_2: ['true', 'true'],
  enabled_flag: ['1', '1'],
  hard_bounced_flag: ['0', ''],
  Zustimmungstext: ['Ich stimme zu, dass …', 'Ich willige ein'],
  'Consent IP': ['10.10.10.1', '192.0.2.1'],
  Blocktarif: ['ja', 'nein'],
  Anrede: ['Herr', 'Frau'],
  Straße: ['Haltestelle 1', 'Sperberweg 2'],
  'Lead status': ['New', 'Contacted', 'Qualified', 'Bad timing'],
  'http status': ['200', '404'],
  Notes: ['Asked how to unsubscribe from push messages', 'ok'],
  'Customer since': ['2019', '2020'],
  'Stopover city': ['no', 'yes'],
  'ZIP code': ['0', '1'],
  Age: ['1', '99'],
  Familienstand: ['ledig', 'verheiratet'],
  'Deal stage': ['Closed lost', 'pending'],
  'Last order date': ['2024-05-01', ''],
  Retour: ['2', '0'],
  'Preferred contact': ['email', 'phone'],
  Unternehmen: ['Kündigungsschutz AG', 'X'],
  'Contact no.': ['1', '0'],
  Employer: ['Unsubscribed Ltd', 'Bounce', 'Cancelled'],
  Alignment: ['left', 'right', 'centre'],
  Laundry: ['clean', 'worn', 'new'],
  Interests: ['Bulk goods, Mailbags', 'Cooking'],
  Comment: ['He has cancelled his order, then called again and reordered', 'ok'],
  'Bulk discount': ['no', 'yes'],
  'Last contacted': ['2024-05-01', '1. Mai 2024'],
}
test('import: columns that do not say who has left are properties', async t => {
  for (const [column, cells] of Object.entries(HARMLESS)) {
    const { importFile, contacts } = await openAudience(t)
    await importFile(fileOf(column, cells)).catch((error: Error) => assert.unreachable(error.message))
    const stored = await contacts()
    assert.equal(
      stored.map(({ unsubscribed, properties }) => [unsubscribed, readProperties(properties).get(column)]),
      cells.map(cell => [0, cell === '' ? undefined : cell]),
      column,
    )
  }
})

test('import: the report names columns that were found to say who has left', async t => {
  const { importFile } = await openAudience(t)
  const report = await importFile(fileOf('dnc', ['1', '0']))
  assert.equal(
    JSON.parse(report!.errors).map(({ message }: { message: string }) => message),
    [
      '1 contact was imported as unsubscribed: 1 by the column `dnc`.',
      'The column `dnc` says who has left. These contacts are unsubscribed.',
    ],
  )
})

test('import: the report counts who is unsubscribed, and by which columns', async t => {
  const { importFile, run, accountId, clock } = await openAudience(t)
  const owner = { accountId, email: 'e@there.test', topicId: null }
  await run('unsubscribe', { ...owner, at: clock.now() })
  const report = await importFile(
    'email,unsubscribed,Status,Tags\na@there.test,yes,unsubscribed,\nb@there.test,no,bounced,"vip,optout"\n' +
      'c@there.test,,subscribed,\nd@there.test,,,\ne@there.test,,subscribed,vip\n',
  )
  assert.equal(
    JSON.parse(report!.errors).map(({ row, message }: { row: number; message: string }) => [row, message]),
    [
      [
        1,
        '3 contacts were imported as unsubscribed: 2 by the column `Status`, 1 by the column `unsubscribed`, ' +
          '1 by the column `Tags`, 1 by earlier opt-outs of their addresses.',
      ],
      [1, 'The column `Status` is empty in 1 row, which it did not unsubscribe.'],
    ],
  )
})

test('import: empty cells are in the question, and the answer about other values covers them', async t => {
  const { importFile, contacts } = await openAudience(t)
  const file = fileOf('active', ['1', '', '0', ''])
  const { questions, message } = await questionsOf(importFile(file))
  assert.equal(
    questions[0]!.values.map(({ value, row }) => [value, row]),
    [
      ['1', 2],
      ['0', 4],
      ['', 3],
    ],
  )
  assert.match(message, 'an empty cell in row 3')
  const answer = (...answerText: [string, boolean][]) => ({
    meanings: new Map([['active', new Map(answerText)]]),
  })
  const silent = await importFile(file, answer(['1', false], ['0', true]))
  assert.match(silent!.errors, 'The column `active` is empty in 2 rows, which it did not unsubscribe.')
  const report = await importFile(file, answer(['1', false], ['*', true]))
  assert.match(report!.errors, '3 contacts were imported as unsubscribed: 3 by the column `active`.')
  assert.equal(
    (await contacts()).map(({ unsubscribed }) => unsubscribed),
    [0, 1, 1, 1],
  )
})

test('import: all questions about a file are asked at once, with rows far down', async t => {
  const { importFile, contacts } = await openAudience(t)
  const rows = Array.from({ length: 5_000 }, (_, i) => `c${i}@there.test,1,subscribed,${i}\n`).join('')
  const { questions } = await questionsOf(
    importFile(`email,active,Status,n\n${rows}z@there.test,0,who knows,x\n`),
  )
  assert.equal(
    questions.map(({ column, values }) => [column, values.map(({ value, row }) => [value, row])]),
    [
      [
        'active',
        [
          ['1', 2],
          ['0', 5_002],
        ],
      ],
      ['Status', [['who knows', 5_002]]],
    ],
  )
  assert.equal(await contacts(), [])
})

test('import: a question lists at most twelve values', async t => {
  const { importFile } = await openAudience(t)
  const cells = Array.from({ length: 40 }, (_, i) => `${i + 100}`)
  const { questions } = await questionsOf(importFile(fileOf('statuscode', cells)))
  assert.is(questions[0]!.values.length, 12)
})

for (const [what, meaning, expected] of [
  [
    'values',
    new Map([
      ['1', false],
      ['2', true],
    ]),
    [
      [0, '1'],
      [1, '2'],
      [0, undefined],
    ],
  ],
  [
    'empty cells',
    new Map([
      ['', true],
      ['*', false],
    ]),
    [
      [0, '1'],
      [0, '2'],
      [1, undefined],
    ],
  ],
  [
    'a property',
    'property',
    [
      [0, '1'],
      [0, '2'],
      [0, undefined],
    ],
  ],
  [
    'nothing',
    'ignore',
    [
      [0, undefined],
      [0, undefined],
      [0, undefined],
    ],
  ],
] as readonly [string, ColumnMeaning, unknown][])
  test(`import: an answer makes a column mean ${what}`, async t => {
    const { importFile, contacts } = await openAudience(t)
    await importFile('email,statuscode\na@there.test,1\nb@there.test,2\nc@there.test\n', {
      meanings: new Map([['statuscode', meaning]]),
    })
    assert.equal(
      (await contacts()).map(row => [row.unsubscribed, readProperties(row.properties).get('statuscode')]),
      expected,
    )
  })

test('import: values that an answer leaves open are asked about', async t => {
  const { importFile } = await openAudience(t)
  const meanings = new Map([['statuscode', new Map([['1', false]])]])
  const { questions } = await questionsOf(importFile(fileOf('statuscode', ['1', '2']), { meanings }))
  assert.equal(
    questions[0]!.values.map(({ value }) => value),
    ['2'],
  )
})

test('import: columns that a column map leaves out are asked about, too', async t => {
  const { importFile, contacts } = await openAudience(t)
  const columnMap = { fields: new Map([['email', 'email'] as const]), properties: new Map() }
  const file = fileOf('is_active', ['0', '1'])
  const { questions } = await questionsOf(importFile(file, { columnMap }))
  assert.is(questions[0]!.column, 'is_active')
  await importFile(fileOf('dnc', ['1', '0']), { columnMap })
  assert.equal(
    (await contacts()).map(({ unsubscribed, properties }) => [unsubscribed, readProperties(properties).size]),
    [
      [1, 0],
      [0, 0],
    ],
  )
})

test.run()
