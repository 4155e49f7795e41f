/** Maps the columns of a contact file to fields and properties by the header row. */
import { unguarded } from '../../../lib/csv.ts'
import { keyFault } from '../properties.ts'
import { type ConsentMeaning, consentMeaning, mayBeSilent, plainName } from './consent.ts'
import { ImportFault } from './fault.ts'

export const FIELD_COLUMNS = ['email', 'first_name', 'last_name', 'unsubscribed'] as const

export type FieldColumn = (typeof FIELD_COLUMNS)[number]

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
  | { kind: 'property'; key: string; type: ColumnType }
  /** Column that says whether the contact has left. Cells that do not say it may be a property. */
  | { kind: 'consent'; name: string; meaning: ConsentMeaning; mayBeProperty: boolean }
  /** Column without a name. */
  | { kind: 'none' }

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

/** @throws ImportFault if a column is missing or duplicate, or its name is not a valid property key */
export function columnsOf(header: readonly string[], map?: ColumnMap): Column[] {
  const names = header.map(name => unguarded(name).trim())
  const broken = names.find(name => name.includes('\ufffd'))
  if (broken !== undefined)
    throw new ImportFault(
      broken,
      `The column name \`${broken}\` must be valid in the charset of the file (UTF-8 unless the content type sets another).`,
    )
  const columns = map ? mappedColumns(names, map) : namedColumns(names)
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
    return column.kind === 'consent' && column.mayBeProperty ? [column.name] : []
  })
}

/** Of several alternative names of a field, the first one counts. */
function namedColumns(names: readonly string[]): Column[] {
  const taken = new Set<FieldColumn>()
  const hasNames = names.some(name => ['first_name', 'last_name'].includes(fieldNamed(name, names) ?? ''))
  return names.map(name => {
    if (name === '') return { kind: 'none' }
    if (!hasNames && !taken.has('first_name') && WHOLE_NAMES.includes(plainName(name))) {
      taken.add('first_name')
      return { kind: 'field', field: 'first_name', wholeName: name }
    }
    const field = fieldNamed(name, names)
    if (field && (field === name || field === 'email' || !taken.has(field))) {
      taken.add(field)
      return { kind: 'field', field }
    }
    return consentNamed(name, true) ?? { kind: 'property', key: name, type: 'string' }
  })
}

/** @param keepsOthers whether cells that do not say whether the contact has left are a property */
function consentNamed(name: string, keepsOthers: boolean): Column | undefined {
  const meaning = consentMeaning(plainName(name))
  return meaning && { kind: 'consent', name, meaning, mayBeProperty: keepsOthers && mayBeSilent(meaning) }
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
  return names.map(name => {
    const column = wanted.get(name)
    if (column) return column
    const isEmail = !fields.has('email') && name !== '' && fieldNamed(name, names) === 'email'
    if (isEmail) return { kind: 'field', field: 'email' }
    return (fields.has('unsubscribed') ? undefined : consentNamed(name, false)) ?? { kind: 'none' }
  })
}

/** Tells which columns are imported as something else than their name says. */
export function columnNotes(columns: readonly Column[]): string[] {
  return columns.flatMap(column =>
    column.kind === 'field' && column.wholeName !== undefined
      ? [`The column \`${column.wholeName}\` has whole names. They became the first names.`]
      : [],
  )
}

/** Prefers the exact name to an alternative one. */
function fieldNamed(name: string, names: readonly string[]): FieldColumn | undefined {
  const exact = FIELD_COLUMNS.find(field => field === name)
  if (exact) return exact
  const other = plainName(name)
  return FIELD_COLUMNS.find(field => OTHER_NAMES[field].includes(other) && !names.includes(field))
}
