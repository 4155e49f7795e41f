/** Columns whose names the import does not know, told by what their values look like. */
import * as assert from 'uvu/assert'
import type { Column } from '../../../../src/resources/contacts/import/columns.ts'
import { readRow } from '../../../../src/resources/contacts/import/row.ts'
import { ConsentQuestions, surveyImport } from '../../../../src/resources/contacts/import/survey.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts/import answers')

/** Reads `in*5 out*2` as seven cells. A bar stands for an empty cell, an underscore for a blank. */
const cellsOf = (text: string) =>
  text.split(' ').flatMap(part => {
    const [cell, count = '1'] = part.split('*')
    return Array<string>(Number(count)).fill(cell === '|' ? '' : cell!.replaceAll('_', ' '))
  })

/** Returns the columns of a file with a column of such cells, or `asks`. */
async function readingOf(name: string, cells: string, header = 'email'): Promise<readonly Column[] | 'asks'> {
  const rows = cellsOf(cells).map(
    (cell, i) => `c${i}@there.test${',true'.repeat(header.split(',').length - 1)},"${cell}"\n`,
  )
  const bytes = async function* () {
    yield Buffer.from(`${header},"${name}"\n${rows.join('')}`)
  }
  try {
    return (await surveyImport({ bytes: bytes(), charset: undefined })).columns
  } catch (error) {
    assert.instance(error, ConsentQuestions)
    return 'asks'
  }
}

/** Columns of exports, by the kind of values that they contain. */
const ASKED: Record<string, Record<string, string>> = {
  'yes and no': {
    custom_1: 'yes*3 no',
    'Field 7': 'true*3 false',
    mailable: '1*5 0',
    e_ok: '1*5 0',
    Souhlas: 'ano*5 ne*2',
    Prenumererar: 'Ja*5 Nej',
    Hírlevél: 'igen*5 nem',
    Dezabonat: 'nu*5 da',
    DM可否: '可*5 否',
  },
  'yes and an answer in a language that is not known': { Tellimus: 'jah*5 ei*2', rcv: 'yes*4 ez' },
  'letters and codes': {
    NL: 'O*5 N*2',
    EML_OPT: 'I*3 O',
    mc_state: '1*5 -1',
    sp_state: '1*5 9*2',
    Status: '0*5 1',
    Verteiler: 'A*5 X B*2',
  },
  'a mark in few rows': { X: '|*5 x', raus: '|*5 x', Kennzeichen: '|*8 W*2' },
  'a date in few rows': {
    Avregistrerad: '|*5 2021-05-06',
    Abgang: '|*5 01.07.2021',
    Utträde: '|*3 2020-01-01',
    ended_on: '0000-00-00*5 2020-01-01',
    'Fecha fin': '1970-01-01*5 2020-01-01',
    'Newsletter bis': '|*5 01.01.2020',
    Resigned: '|*5 2020*2',
  },
  opposites: {
    Deltagelse: 'tilmeldt*4 frameldt',
    Állapot: 'feliratkozott*5 leiratkozott',
    メルマガ: '希望する*5 希望しない',
    Contacto: 'quiere*5 no_quiere',
    Nyhetsbrev: 'påmeldt*5 avmeldt',
  },
  'an end among few values': {
    Opt: 'in out',
    'Rcpt state': 'live*5 dead',
    'Address health': 'good*5 bad',
    Adressqualität: 'gut*5 schlecht',
    last_event: 'delivered*5 dropped',
  },
  'nothing among few values': {
    'Marketing preference': 'email*5 none',
    Comms: 'email*5 nothing',
    Kontaktweg: 'E-Mail*5 Brief*3 keiner',
  },
  'wanted by some, and empty for the others': {
    Consent: 'y*5 |',
    'Info-Mail': 'x*5 |*3',
    'DOI-Datum': '01.01.2020*6 |*2',
    Newsletter: 'x*5 |',
  },
  'why mail was refused': {
    result_code: '250*5 550*2',
    Fehlercode: '|*5 550',
    dsn: '|*5 5.1.1',
    Motif: '|*5 NPAI',
    Error: '|*5 User_unknown',
    'Errore invio': '|*5 casella_inesistente',
  },
}
for (const [what, columns] of Object.entries(ASKED))
  test(`import: a column of another name is asked about if it has ${what}`, async () => {
    for (const [name, cells] of Object.entries(columns)) assert.is(await readingOf(name, cells), 'asks', name)
  })

const SILENT: Record<string, Record<string, string>> = {
  'the same value in all rows': { Other: 'x*2', Exported: '1*5', Wholesale: 'no*4' },
  'names and texts': {
    Town: 'Bath*3 York*2',
    'Favourite team': 'Reds*4 Blues*4',
    Genre: 'rock*4 jazz*4',
    Bio: '|*5 Writer',
    Theme: 'dark*4 light*4',
  },
  'codes of countries, sizes and groups': {
    CC: 'DE*5 US*3',
    Lieferland: 'DE*5 AT*4',
    'Shirt size': 'S*3 M*4 L*4',
    Geschlecht: 'w*5 m*5',
    Klasse: 'A*3 B*3',
  },
  figures: {
    Orders: '0*5 1*3',
    'Nb commandes': '0*4 1*3',
    Semester: '1*5 2*4',
    'Open rate': '0*2 0.5*3',
    NIP: '|*9 1234567890',
    Turnover: '0*3 99.90*2',
  },
  'dates of life and of trade': {
    Birthdate: '|*9 1980-01-01',
    Hochzeitstag: '|*9 05.05.2010',
    Cumpleaños: '1990-01-01 |',
    'Dernier achat': '|*5 01/01/2020',
    'Last gift date': '2020-01-01*3 |*3',
    'Fecha de registro': '2020-01-01*5',
    'Renewal date': '2027-01-01*2 |*4',
  },
  'yes and no about the person': {
    'Has children': 'yes*3 no*9',
    Premium: '1*4 0*9',
    Kundenkarte: 'ja*3 nein*3',
    Hijos: 'sí*3 no*3',
    'Needs parking': 'yes*4 no*5',
    'Driving licence': 'yes*4 no*2',
  },
  'none among other things': { Allergies: 'none*6 nuts*2', Dietary: 'none*3 vegan*3' },
  'other channels': {
    HasOptedOutOfFax: '0*9 1*3',
    'WhatsApp opt-in': 'yes*5 no*5',
    'Accepts SMS Marketing': 'no*9 yes*3',
  },
}
for (const [what, columns] of Object.entries(SILENT))
  test(`import: a column with ${what} is a property`, async () => {
    for (const [name, cells] of Object.entries(columns)) {
      const reading = await readingOf(name, cells)
      assert.is.not(reading, 'asks', name)
      assert.is(
        (reading as readonly Column[])[1]!.kind === 'consent' && name !== 'HasOptedOutOfFax',
        false,
        name,
      )
    }
  })

test('import: beside a column `unsubscribed`, values of other columns are no question, and names still are', async () => {
  assert.is.not(await readingOf('custom_1', 'yes*3 no', 'email,unsubscribed'), 'asks')
  assert.is(await readingOf('is_active', 'yes*3 no', 'email,unsubscribed'), 'asks')
})

test('import: a column without a name is asked about, too, and an empty one is not', async () => {
  assert.is(await readingOf('', 'in*3 abgemeldet'), 'asks')
  assert.is(await readingOf('', '|*3 x'), 'asks')
  assert.is.not(await readingOf('', '|*3'), 'asks')
})

for (const never of [
  '0000-00-00',
  '0000-00-00 00:00:00',
  '1970-01-01',
  '1970-01-01T00:00:00Z',
  '01.01.1970',
  '9999-12-31',
  '0001-01-01',
  '-0001-11-30 00:00:00',
])
  test(`import: the date ${never} means that it has never happened`, async () => {
    const columns = await readingOf('unsubscribed_at', `${never.replaceAll(' ', '_')}*5 2022-10-11`)
    assert.equal(
      (columns as readonly Column[]).map(({ kind }) => kind),
      ['field', 'consent'],
    )
    const read = (cell: string) =>
      readRow(columns as readonly Column[], { row: 2, cells: ['c@there.test', cell] })
    assert.equal((read(never) as { leftBy: string[] }).leftBy, [])
    assert.equal((read('2022-10-11') as { leftBy: string[] }).leftBy, ['unsubscribed_at'])
  })

for (const pattern of ['*@gone.example', '?@gone.example', '@gone.example', '%@gone.example'])
  test(`import: a row with ${pattern} fails, because a contact is one address`, async () => {
    const columns = (await readingOf('City', 'Bonn')) as readonly Column[]
    const row = readRow(columns, { row: 2, cells: [pattern, 'Bonn'] })
    assert.match((row as { message: string }).message, 'takes no wildcards')
  })

test.run()
