/** Tables of the columns, values and charsets that an import understands. */
import * as assert from 'uvu/assert'
import { ImportFault } from '../../../../src/resources/contacts/import/fault.ts'
import { readProperties } from '../../../../src/resources/contacts/properties.ts'
import type { ContactImportRow, ContactRow } from '../../../../src/store/model/schema.ts'
import { inPieces, openAudience } from '../../../kit/audience.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts/import columns')

const countsOf = (report: ContactImportRow | undefined) => {
  const { state, rowCount, createdCount, updatedCount, unchangedCount, skippedCount, failedCount } = report!
  return [state, rowCount, [createdCount, updatedCount, unchangedCount, skippedCount, failedCount]]
}
const errorsOf = (report: ContactImportRow | undefined) =>
  (JSON.parse(report!.errors) as { row: number; message: string }[]).map(({ row, message }) => [row, message])
const shown = ({ email, firstName, lastName, unsubscribed, properties }: ContactRow) => [
  ...[email, firstName, lastName, unsubscribed],
  Object.fromEntries(readProperties(properties)),
]

/** @returns what the file is refused for */
async function faultOf(importing: Promise<unknown>): Promise<ImportFault> {
  const error = await importing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.instance(error, ImportFault)
  return error as ImportFault
}

const PLAIN = 'email;first_name\nann@there.test;Ann\nbob@there.test;Bób\n'
for (const [what, file, charset] of [
  ['semicolons', PLAIN],
  ['tabs', PLAIN.replaceAll(';', '\t')],
  ['CRLF', PLAIN.replaceAll('\n', '\r\n')],
  ['CR', PLAIN.replaceAll('\n', '\r')],
  ['mixed line ends', PLAIN.replace('\n', '\r\n')],
  ['no line end at its end', PLAIN.trimEnd()],
  ['empty lines', PLAIN.replaceAll('\n', '\n\n;\n')],
  ['empty lines before its header', `\ufeff\r\n;;\n  \n${PLAIN}`],
  ['a byte order mark', `\ufeff${PLAIN}`],
  ['its separator in a line of its own', `sep=;\r\n${PLAIN}`],
  ['everything in quotes', PLAIN.replaceAll(/[^;\n]+/g, '"$&"')],
  ['an empty column at the end', PLAIN.replaceAll('\n', ';\n')],
  ['UTF-16', Buffer.from(`\ufeff${PLAIN}`, 'utf16le')],
  ['another charset that is named', Buffer.from(PLAIN, 'latin1'), 'ISO-8859-1'],
] as const)
  test(`import: a file with ${what} is read in chunks of any size`, async t => {
    const { importFile, newAudience, contacts } = await openAudience(t)
    for (const size of [1, 3, Infinity]) {
      const audienceId = await newAudience()
      const bytes = inPieces(Buffer.from(file), size)
      assert.equal(countsOf(await importFile(bytes, { audienceId, charset })), ['done', 2, [2, 0, 0, 0, 0]])
      const names = (await contacts(audienceId)).map(({ email, firstName }) => [email, firstName])
      assert.equal(names, [
        ['ann@there.test', 'Ann'],
        ['bob@there.test', 'Bób'],
      ])
    }
  })

const consent: [column: string, left: readonly string[], stays: readonly string[]][] = [
  [
    'Status',
    ['unsubscribed', 'Cleaned', 'bounced', 'inactive', 'Never Subscribed', 'pending'],
    ['subscribed', 'ACTIVE'],
  ],
  ['state', ['cancelled', 'bounced', 'complained', 'inactive'], ['active', 'NY', 'Bayern']],
  ['Subscription Status', ['Unsubscribed', 'Non-subscribed', 'no'], ['Subscribed', 'yes']],
  ['subscribed', ['false', '0', 'No'], ['true', '1']],
  ['opt-in', ['false', 'opted out'], ['true', 'Double opt-in']],
  ['opted_out', ['true', '1', 'YES'], ['false', '0']],
  ['Email Marketing', ['NEVER_SUBSCRIBED', 'UNSUBSCRIBED', 'suppressed'], ['SUBSCRIBED', 'yes']],
  ['BLACKLISTED', ['1', 'true'], ['0', 'false']],
  ['email_blacklisted', ['TRUE'], ['FALSE']],
  ['UNSUB_TIME', ['2024-05-01 10:00:00'], ['']],
  ['subscriber_status', ['blocklisted', 'disabled', 'spam complaint'], ['enabled']],
  ['CLEAN_TIME', ['2024-05-01 10:00:00'], ['', '0000-00-00 00:00:00', 'null']],
  ['Confirmed Opt-Out Date', ['5/1/2024'], ['']],
  ['Unsubscribe reason', ['too many'], ['']],
  ['deleted_at', ['2024-05-01T10:00:00Z'], ['', 'None']],
  ['Opted out of email: Offers', ['true'], ['', 'false']],
  ['is_excluded_from_campaigns', ['True'], ['False']],
  ['email_disabled', ['true'], ['false']],
  ['Email subscriber status', ['Never subscribed', 'Unreachable'], ['Subscribed']],
  ['Email permission status', ['Awaiting confirmation', 'Unsubscribed'], ['Express', 'Implied']],
  ['Statut', ['Désinscrit', 'Désabonné'], ['Inscrit', 'Abonné']],
  ['Subscribed?', ['no'], ['yes', '2024-05-01']],
  ['Newsletter', ['nein', 'No'], ['ja', 'weekly']],
  ['Type', ['unsubscribed', 'removed'], ['premium', 'regular']],
  ['Unsubscribed', ['2024-05-01', 'x', 'unsubscribed'], ['', '0', 'subscribed', 'null', '-', '☐']],
  ['unsub', ['x', '1', '✓', 'Yes'], ['', '0']],
  ['Newsletter abgemeldet', ['ja', 'WAHR', 'x', '01.05.2024'], ['nein', 'FALSCH', '']],
  ['Abgemeldet am', ['01.05.2024'], ['', '-']],
  ['Datum der Abmeldung', ['01.05.2024'], ['']],
  ['Newsletter-Abmeldung erfolgt?', ['ja'], ['nein']],
  ['Werbewiderspruch', ['ja'], ['nein']],
  ['Kontaktstatus', ['Widerrufen', 'Ausgetragen', 'gekündigt', 'nicht abonniert', 'gesperrt'], ['bestätigt']],
  ['Abonnement', ['Nein', 'abbestellt'], ['Ja', 'Premium']],
  ['DSGVO-Einwilligung', ['nein', 'widerrufen'], ['ja', 'erteilt']],
  ['Désabonné', ['oui', 'VRAI'], ['non', 'FAUX']],
  ['Baja', ['sí', 'Si', 'x', 'VERDADERO'], ['no']],
  ['Baja del boletín', ['sí'], ['no']],
  ['Cancellato', ['sì'], ['no']],
  ['Descadastrado', ['Sim'], ['Não']],
  ['Uitgeschreven', ['ja'], ['nee']],
  ['Wypisany', ['tak'], ['nie']],
  ['Отписан', ['да'], ['нет']],
  ['Статус', ['отписался', 'не подписан'], ['подписан']],
  ['הסרה', ['כן'], ['לא']],
  ['إلغاء الاشتراك', ['نعم'], ['لا']],
  ['配信停止', ['はい', '済'], ['いいえ']],
  ['退订', ['是'], ['否']],
  ['订阅状态', ['已退订', '未订阅'], ['已订阅']],
  ['Labels', ['Unsubscribed', 'VIP; Opted out', '* myContacts ::: Unsubscribed'], ['VIP', 'pending']],
  ['Tags', ['unsubscribed', 'Bounced'], ['regular']],
]
for (const [column, left, stays] of consent)
  test(`import: the column ${column} of another program tells who has left`, async t => {
    const { importFile, contacts } = await openAudience(t)
    const cells = [...left, ...stays]
    const report = await importFile(
      `email,${column},City\n${cells.map((cell, i) => `u${10 + i}@there.test,${cell},x`).join('\n')}\n`,
    )
    assert.equal(countsOf(report), ['done', cells.length, [cells.length, 0, 0, 0, 0]])
    assert.equal(
      (await contacts()).map(({ unsubscribed }) => unsubscribed),
      cells.map((_, i) => (i < left.length ? 1 : 0)),
    )
  })

for (const column of [
  'Newsletter abgemeldet',
  'Baja',
  'Cancelled',
  '配信停止',
  'Unsubscribe (date or reason)',
])
  test(`import: a value of the column ${column} that is not understood is asked about`, async t => {
    const { importFile, contacts } = await openAudience(t)
    const fault = await faultOf(importFile(`email,${column}\nann@there.test,perhaps\n`))
    assert.is(fault.part, column)
    assert.match(fault.message, `The column \`${column}\` may say who has left: it has \`perhaps\` in row 2`)
    assert.equal(await contacts(), [])
  })

for (const column of ['Unsubscribe URL', 'Abmeldelink', 'Cancellation policy', 'Postbox', 'Bajada'])
  test(`import: the column ${column} is a property`, async t => {
    const { importFile, contacts } = await openAudience(t)
    await importFile(`email,${column}\nann@there.test,Weg 2\n`)
    assert.equal((await contacts()).map(shown), [['ann@there.test', null, null, 0, { [column]: 'Weg 2' }]])
  })

for (const [header, cells, expected, notes] of [
  ['email', '"Ann Lee <ann@there.test>"', ['ann@there.test', 'Ann Lee', null, 0, {}], 0],
  ['email', '"""Lee, Ann"" <ann@there.test>"', ['ann@there.test', 'Lee, Ann', null, 0, {}], 0],
  ['email,last_name', 'Ann <ann@there.test>,Lee', ['ann@there.test', null, 'Lee', 0, {}], 0],
  ['E-mail,Name', 'ann@there.test,Ann Lee', ['ann@there.test', 'Ann Lee', null, 0, {}], 1],
  ['Full name;Email', 'Ann Lee;ann@there.test', ['ann@there.test', 'Ann Lee', null, 0, {}], 1],
  ['email,お名前', 'ann@there.test,Ann', ['ann@there.test', 'Ann', null, 0, {}], 1],
  ['email,Vorname,Name', 'ann@there.test,Ann,x', ['ann@there.test', 'Ann', null, 0, { Name: 'x' }], 0],
] as const)
  test(`import: names are found in ${header}: ${cells}`, async t => {
    const { importFile, contacts } = await openAudience(t)
    const report = await importFile(`${header}\n${cells}\n`)
    assert.equal((await contacts()).map(shown), [expected])
    assert.equal(
      errorsOf(report).map(([row]) => row),
      Array(notes).fill(1),
    )
  })

for (const header of [
  'First Name,Last Name,E-mail 1 - Value',
  'Given Name,Family Name,E-mail 1 - Value',
  'First Name,Last Name,E-mail Address',
  'Vorname,Nachname,E-Mail-Adresse',
  'Prénom,Nom,Adresse de messagerie',
  'Prénom,Nom de famille,Adresse e-mail',
  'Nombre,Apellidos,Dirección de correo electrónico',
  'Nome,Cognome,Indirizzo posta elettronica',
  'Voornaam,Achternaam,E-mailadres',
  'Nome,Sobrenome,Endereço de email',
  'Imię,Nazwisko,Adres e-mail',
  '名,姓,電子メール アドレス',
  'Förnamn,Efternamn,E-postadress',
  'Fornavn,Etternavn,E-postadresse',
  'Etunimi,Sukunimi,Sähköpostiosoite',
  'Adı,Soyadı,E-posta',
  '名,姓,电子邮件地址',
  'Имя,Фамилия,Адрес эл. почты',
])
  test(`import: the columns ${header} are known`, async t => {
    const { importFile, contacts } = await openAudience(t)
    await importFile(`${header},E-mail 2 - Value\nAnn,Lee,ann@there.test,\n`)
    assert.equal((await contacts()).map(shown), [['ann@there.test', 'Ann', 'Lee', 0, {}]])
  })

test('import: blanks beside quotes are no part of a cell', async t => {
  const { importFile, contacts } = await openAudience(t)
  await importFile('"email" ,"first_name", "City"\n"ann@there.test" , "Lee, ""Ann""" ,Wien\n')
  assert.equal((await contacts()).map(shown), [['ann@there.test', 'Lee, "Ann"', null, 0, { City: 'Wien' }]])
})

for (const [what, end] of [
  ['both', '\r\n'],
  ['a line feed', '\n'],
  ['a carriage return', '\r'],
] as const)
  test(`import: a line that names the delimiter is skipped: ${what}`, async t => {
    const { importFile, newAudience } = await openAudience(t)
    const lines = ['\ufeffsep=;', 'email;first_name', 'ann@there.test;Ann', 'bob;Bob', '']
    for (const size of [1, Infinity]) {
      const bytes = inPieces(Buffer.from(lines.join(end)), size)
      const report = await importFile(bytes, { audienceId: await newAudience() })
      assert.equal(
        errorsOf(report).map(([row]) => row),
        [3],
      )
    }
  })

for (const [what, file, part] of [
  ['nothing', '', 'header'],
  ['no address', 'name,plan\nAnn,pro\n', 'email'],
  ['a column twice', 'email,plan,plan\n', 'plan'],
  ['two columns for the address', 'Email,E-Mail\n', 'email'],
  ['a column that is no name', 'email,{{x}}\n', '{{x}}'],
  ['too many columns', `email,${Array.from({ length: 501 }, (_, i) => `k${i}`)}\n`, 'header'],
  ['a quote that is never closed, at once', 'email,"plan\nann@there.test,pro\n', 'row 1'],
] as const)
  test(`import: a file with ${what} is refused without a change`, async t => {
    const { importFile, contacts, rows } = await openAudience(t)
    const fault = await faultOf(importFile(file))
    assert.is(fault.part, part)
    assert.ok(fault.message.includes(`\`${part}\``) || fault.message.includes(part), fault.message)
    assert.equal([await contacts(), rows('select * from contact_imports')], [[], []])
  })

for (const [charset, octets, name] of [
  ['euc-kr', '98de', '샾'],
  ['ks_c_5601-1987', 'bcbe', '센'],
  ['cp949', '8c63', '똠'],
  ['x-sjis', '93fa', '日'],
  ['big5-hkscs', '9de4', '苷'],
  ['ibm850', '81', 'ü'],
  ['cp-1251', 'cf', 'П'],
] as const)
  test(`import: a file in ${charset} is read in chunks of any size`, async t => {
    const { importFile, newAudience, contacts } = await openAudience(t)
    const file = Buffer.concat([
      Buffer.from('email,first_name\nann@there.test,'),
      Buffer.from(octets, 'hex'),
      Buffer.from('\n'),
    ])
    for (const size of [1, Infinity]) {
      const audienceId = await newAudience()
      await importFile(inPieces(file, size), { audienceId, charset })
      assert.equal(
        (await contacts(audienceId)).map(({ firstName }) => firstName),
        [name],
      )
    }
  })

test('import: a header in another charset is refused, and is read with the charset', async t => {
  const { importFile, contacts } = await openAudience(t)
  const file = Buffer.from('email,Größe\nann@there.test,groß\n', 'latin1')
  const { message } = await faultOf(importFile(inPieces(file, Infinity)))
  assert.match(message, 'must be valid in the charset of the file')
  assert.equal(await contacts(), [])
  await importFile(inPieces(file, Infinity), { charset: 'windows-1252' })
  assert.equal((await contacts()).map(shown), [['ann@there.test', null, null, 0, { Größe: 'groß' }]])
})

for (const charset of ['windows-1252', 'latin1', 'US-ASCII', 'cp1252', 'iso-8859-1'])
  test(`import: a file in UTF-8 that is declared as ${charset} is read as UTF-8`, async t => {
    const { importFile, contacts } = await openAudience(t)
    const file = Buffer.from('email,first_name,Größe\nann@there.test,Zoë,groß\n')
    for (const size of [1, Infinity]) await importFile(inPieces(file, size), { charset })
    assert.equal((await contacts()).map(shown), [['ann@there.test', 'Zoë', null, 0, { Größe: 'groß' }]])
  })

test('import: an unknown charset is refused', async t => {
  const { importFile } = await openAudience(t)
  assert.is((await faultOf(importFile('email\n', { charset: 'klingon' }))).part, 'charset')
})

for (const [what, piece] of [
  ['empty cells', ','],
  ['quotes', '"'],
  ['letters', 'x'],
] as const)
  test(`import: an endless row of ${what} is refused early`, async t => {
    const { importFile } = await openAudience(t)
    for (const header of ['', 'email\n']) {
      let input = 0
      async function* endless() {
        yield Buffer.from(header)
        for (; ; input++) yield Buffer.alloc(64 * 1024, piece)
      }
      assert.match((await faultOf(importFile(endless()))).part, /^row \d$/)
      assert.ok(input < 10, `${input} pieces were read`)
    }
  })

test.run()
