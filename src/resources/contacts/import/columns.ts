/** Maps the columns of a contact file to fields and properties by the header row. */
import { unguarded } from '../../../lib/csv.ts'
import { KEYS_MAX } from '../limits.ts'
import { FIELD_COLUMNS, type FieldColumn, keyFault } from '../properties.ts'
import {
  type ColumnMeaning,
  type ColumnMeanings,
  type ColumnUse,
  type ColumnUses,
  requireColumns,
} from './column-meanings.ts'
import { type ConsentMeaning, consentMeaning, plainName } from './consent.ts'
import { ImportFault } from './fault.ts'

export const COLUMN_TYPES = ['string', 'number', 'boolean'] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/**
 * Column mapping given by the client. Columns that it does not name are ignored, except the one of the
 * address and, without a mapping of `unsubscribed`, those that say whether a contact has left.
 */
export interface ColumnMap {
  /** Names of columns by field. */
  fields: ReadonlyMap<FieldColumn, string>
  /** Columns of properties by key. */
  properties: ReadonlyMap<string, { column: string; type: ColumnType }>
}

export type Column =
  /** `wholeName` is the name of a column with whole names, which become first names. */
  | { kind: 'field'; field: FieldColumn; wholeName?: string }
  /** `isUnread` if nobody has said that the column is a property. `name` is its name where the key differs. */
  | { kind: 'property'; key: string; name?: string; type: ColumnType; isUnread?: boolean }
  | ConsentColumn
  /** Column that is not imported. It has a name if it may say who has left. */
  | { kind: 'none'; name?: string }

/** Column that says whether the contact has left. */
export interface ConsentColumn {
  kind: 'consent'
  name: string
  meaning: ConsentMeaning
  /** Key of the property; by default the name. */
  key?: string
  /** Which cells are a property, too. */
  keeps: 'never' | 'unclear' | 'always'
  /** What the client says about values, as `answeredValue` makes them. */
  answers?: ReadonlyMap<string, boolean>
  /** Whether the column was recognised by words and values, not by its name. */
  isFound?: boolean
  /** Whether numbers that are not understood are codes, and not a property. */
  takesCodes?: boolean
}

/** Maximum length of the name of a column in questions about it. */
export const QUESTIONED_NAME_MAX = 100

/** Alternative column names of other programs and languages, as `plainName` makes them. */
const words = (text: string) => text.split(' ').map(plainName)
const OTHER_NAMES: Record<FieldColumn, readonly string[]> = {
  email: words(
    'email emailaddress mail mailaddress email1value email1 email1address primaryemail ' +
      'subscriberemail contactemail emailadresse mailadresse adresseemail adressemail adressedemessagerie ' +
      'adresseelectronique courriel direcciondecorreoelectronico direcciondecorreo correoelectronico correo ' +
      'direccionemail indirizzoemail indirizzopostaelettronica indirizzodipostaelettronica emailadres ' +
      'enderecodeemail enderecodecorreioeletronico enderecodecorreioelectronico adresemail adrespocztyemail ' +
      'adrespocztyelektronicznej epost epostadress epostadresse eposta epostaadresi sahkoposti ' +
      'sahkopostiosoite emailovaadresa emailcim 電子メールアドレス 電子メール メールアドレス eメールアドレス ' +
      '电子邮件地址 电子邮件 电子邮箱 邮箱 電子郵件地址 電子郵件 이메일 이메일주소 전자메일주소 ' +
      'адресэлектроннойпочты адресэлпочты электроннаяпочта',
  ),
  first_name: words(
    'firstname givenname forename fname vorname prenom nombre nome voornaam imie fornamn fornavn etunimi jmeno ' +
      'adi keresztnev 名 имя',
  ),
  last_name: words(
    'lastname familyname surname lname nachname nom nomdefamille apellidos apellido cognome achternaam sobrenome ' +
      'apelido nazwisko efternamn efternavn etternavn sukunimi prijmeni soyadi vezeteknev 姓 фамилия',
  ),
  unsubscribed: ['unsubscribed'],
}
/** Names of columns with whole names. They are used if no column has first or last names. */
const WHOLE_NAMES: readonly string[] = words(
  'name fullname displayname contactname customername subscribername nomcomplet nombrecompleto nomecompleto ' +
    'nomeecognome vollstandigername anzeigename vorundnachname naam imieinazwisko 氏名 お名前 名前 姓名 שם שםמלא الاسم фио',
)

/** @throws ImportFault for a name that the charset of the file does not have */
function namesOf(header: readonly string[]): string[] {
  const names = header.map(name => unguarded(name).trim())
  const broken = names.find(name => name.includes('\ufffd'))
  if (broken !== undefined)
    throw new ImportFault(
      broken,
      `The column name \`${broken}\` must be valid in the charset of the file (UTF-8 unless the content type sets another).`,
    )
  return names
}

/**
 * Returns the columns as their names say, which may lack an address or repeat one.
 * @throws ImportFault for a name that the charset of the file does not have
 */
export function suggestedColumns(header: readonly string[]): { name: string; column: Column }[] {
  const names = namesOf(header)
  return namedColumns(names).map((column, i) => ({ name: names[i]!, column }))
}

/** What the client says about columns. */
export interface ColumnWishes {
  /** Column mapping; by default the names in the header. */
  columnMap?: ColumnMap | undefined
  /** Answers to questions about columns. */
  meanings?: ColumnMeanings | undefined
  /** Uses of columns in place of what their names say; not together with a mapping. */
  uses?: ColumnUses | undefined
}

/** @throws ImportFault if a column is missing or duplicate, or its name is not a valid property key */
export function columnsOf(
  header: readonly string[],
  { columnMap: map, meanings = new Map(), uses = new Map() }: ColumnWishes = {},
): Column[] {
  const names = namesOf(header)
  requireColumns(names, 'column_meanings', meanings.keys())
  requireColumns(names, 'column_uses', uses.keys())
  const columns = (map ? mappedColumns(names, map) : namedColumns(names)).map((column, i) => {
    const name = names[i]!
    const use = uses.get(name)
    const used = use === undefined ? column : usedColumn(name, use)
    return withMeaning(used, name, meanings.get(name), map !== undefined)
  })
  const seen = new Set<string>()
  for (const column of columns) {
    if (column.kind === 'none' || column.kind === 'consent') continue
    const name = column.kind === 'field' ? column.field : column.key
    if (seen.has(name))
      throw new ImportFault(name, `The header row must not contain the column \`${name}\` twice.`)
    seen.add(name)
    const fault = column.kind === 'property' ? keyFault(column.key) : undefined
    if (fault) throw new ImportFault(name, `The column name \`${name}\` ${fault}.`)
  }
  if (!seen.has('email')) throw new ImportFault('email', 'The header row must contain the column `email`.')
  return columns
}

/** Returns the keys of the properties that a row may set. */
export function keysOf(columns: readonly Column[]): string[] {
  return columns.flatMap(column => {
    if (column.kind === 'property') return [column.key]
    return column.kind === 'consent' && column.keeps !== 'never' ? [column.key ?? column.name] : []
  })
}

export function tooManyKeys(): ImportFault {
  const text = `The contacts of an audience may have at most ${KEYS_MAX} different properties; the header row exceeds that.`
  return new ImportFault('header', text)
}

/** Of several alternative names of a field, the first one counts. */
function namedColumns(names: readonly string[]): Column[] {
  const taken = new Set<FieldColumn>()
  const hasNames = names.some(name => ['first_name', 'last_name'].includes(fieldNamed(name, names) ?? ''))
  return names.map(name => {
    if (name === '') return { kind: 'none', name }
    if (!hasNames && !taken.has('first_name') && WHOLE_NAMES.includes(plainName(name))) {
      taken.add('first_name')
      return { kind: 'field', field: 'first_name', wholeName: name }
    }
    const field = fieldNamed(name, names)
    if (field && (field === name || field === 'email' || !taken.has(field))) {
      taken.add(field)
      return { kind: 'field', field }
    }
    return consentNamed(name, true) ?? { kind: 'property', key: name, type: 'string', isUnread: true }
  })
}

/** @param isProperty whether cells that do not say who has left are a property */
function consentNamed(name: string, isProperty: boolean): ConsentColumn | undefined {
  const meaning = consentMeaning(plainName(name))
  if (!meaning) return undefined
  const keeps = KEPT[meaning] ?? 'never'
  const takesCodes = meaning === 'choice' || STATE_NAMES.has(plainName(name))
  return { kind: 'consent', name, meaning, keeps: isProperty ? keeps : 'never', takesCodes }
}

/** The other tags of somebody who has left are kept. */
const KEPT: Partial<Record<ConsentMeaning, ConsentColumn['keeps']>> = {
  ...{ state: 'unclear', choice: 'unclear', tags: 'always', word: 'always' },
}
const STATE_NAMES = new Set(words('state estado situacao'))

/** Returns a column as the client uses it. All but a field may still say who has left. */
function usedColumn(name: string, use: ColumnUse): Column {
  if (use === 'ignore') return { kind: 'none', name }
  if (typeof use === 'string') return { kind: 'field', field: use }
  return { kind: 'property', key: use.property, name, type: 'string', isUnread: true }
}

/** Applies what the client says about a column. Fields of a contact are what the mapping says. */
function withMeaning(
  column: Column,
  name: string,
  meaning: ColumnMeaning | undefined,
  isMapped: boolean,
): Column {
  if (meaning === undefined || column.kind === 'field') return column
  if (meaning === 'ignore') return { kind: 'none' }
  const key = column.kind === 'property' ? column.key : name
  if (meaning === 'property') return { kind: 'property', key, name, type: 'string' }
  const known = column.kind === 'consent' ? column : undefined
  const isKept = !isMapped && !(column.kind === 'none' && column.name !== '')
  const keeps = known?.keeps ?? (isKept ? 'always' : 'never')
  return { kind: 'consent', name, key, meaning: known?.meaning ?? 'answered', keeps, answers: meaning }
}

function mappedColumns(names: readonly string[], { fields, properties }: ColumnMap): Column[] {
  const wanted = new Map<string, Column>()
  for (const [field, column] of fields) wanted.set(column, { kind: 'field', field })
  for (const [key, { column, type }] of properties) wanted.set(column, { kind: 'property', key, type })
  for (const name of wanted.keys())
    if (!names.includes(name))
      throw new ImportFault(
        'column_map',
        `\`column_map\` names the column \`${name}\`, which the header row does not contain.`,
      )
  return names.map((name): Column => {
    const column = wanted.get(name)
    if (column) return column
    const isEmail = !fields.has('email') && name !== '' && fieldNamed(name, names) === 'email'
    if (isEmail) return { kind: 'field', field: 'email' }
    if (fields.has('unsubscribed')) return { kind: 'none' }
    return consentNamed(name, false) ?? { kind: 'none', name }
  })
}

/** Tells which columns are imported as something else than their name says. */
export function columnNotes(columns: readonly Column[]): string[] {
  return columns.flatMap(column => {
    if (column.kind === 'field' && column.wholeName !== undefined)
      return [`The column \`${column.wholeName}\` has whole names. They became the first names.`]
    const isFound = column.kind === 'consent' && column.isFound
    return isFound
      ? [`The column \`${column.name}\` says who has left. These contacts are unsubscribed.`]
      : []
  })
}

/** Prefers the exact name to an alternative one. */
function fieldNamed(name: string, names: readonly string[]): FieldColumn | undefined {
  const exact = FIELD_COLUMNS.find(field => field === name)
  if (exact) return exact
  const other = plainName(name)
  return FIELD_COLUMNS.find(field => OTHER_NAMES[field].includes(other) && !names.includes(field))
}
