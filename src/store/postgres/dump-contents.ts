/** Reads rows of a dump that `pg_dump` made, by `pg_restore`, without a server. */
import { StringDecoder } from 'node:string_decoder'
import { blobName, sha256 } from '../blobs/staged.ts'
import type { LargeBlob } from './dump.ts'
import { outputOf, requireTool } from './tools.ts'

export interface DumpContents {
  /** Names of the migrations that were applied, in order. */
  migrations: string[]
  /** Values of the settings by their keys. */
  settings: ReadonlyMap<string, string>
  /** Blobs whose bytes are not in the dump, in the order of their names. */
  largeBlobs: LargeBlob[]
  /** Names of blobs in the dump that have other bytes. */
  damagedBlobs: string[]
}

/** Values of a row in the text format of COPY, by the names of their columns. */
export type DumpedRow = Record<string, string | null>

const TABLES = ['migrations', 'settings', 'blobs']
/** The line before the rows of a table, which name their columns. */
const COPY = /^COPY (?:\S+\.)?"?(\w+)"? \((.*)\) FROM stdin;$/
const END = '\\.'
const NULL = '\\N'
const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
const HEX_PREFIX = '\\x'

/** @throws StartFault when `pg_restore` is missing, or cannot read the file */
export async function contentsOfDump(file: string): Promise<DumpContents> {
  await requireTool('pg_restore', null)
  const settings = new Map<string, string>()
  const contents = { migrations: [] as string[], largeBlobs: [] as LargeBlob[], damagedBlobs: [] as string[] }
  for await (const [table, row] of rowsInDump(file, TABLES)) {
    if (table === 'migrations') contents.migrations.push(row.name!)
    else if (table === 'settings') settings.set(row.key!, row.value!)
    else if (table === 'blobs') addBlob(row, contents)
  }
  contents.migrations.sort()
  contents.largeBlobs.sort((one, other) => (one.name < other.name ? -1 : 1))
  return { ...contents, settings }
}

function addBlob(
  { hash, size_bytes, body }: DumpedRow,
  contents: Pick<DumpContents, 'largeBlobs' | 'damagedBlobs'>,
) {
  const name = hash!.slice(HEX_PREFIX.length)
  if (body === null) contents.largeBlobs.push({ name, sizeBytes: Number(size_bytes) })
  else if (blobName(sha256(bytesOf(body))) !== name) contents.damagedBlobs.push(name)
}

function bytesOf(body: string | undefined): Buffer {
  return Buffer.from((body ?? '').slice(HEX_PREFIX.length), 'hex')
}

/** Yields the rows of some tables, each with the name of its table, in the order of the dump. */
export async function* rowsInDump(
  file: string,
  tables: readonly string[],
): AsyncGenerator<[table: string, row: DumpedRow]> {
  const args = ['--data-only', ...tables.map(name => `--table=${name}`), '--file=-', file]
  let table: { name: string; columns: string[] } | undefined
  for await (const line of linesOf(outputOf('pg_restore', { args, address: null }))) {
    if (line === END) table = undefined
    else if (table) yield [table.name, rowOf(line, table.columns)]
    else {
      const [, name, columns] = COPY.exec(line) ?? []
      if (name !== undefined) table = { name, columns: columns!.replaceAll('"', '').split(', ') }
    }
  }
}

/** Splits at line feeds alone, because all others stand in the rows as they are. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decoder.write(piece)).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

function rowOf(line: string, columns: readonly string[]): DumpedRow {
  const values = line.split('\t').map(text => (text === NULL ? null : unescaped(text)))
  return Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null]))
}

/** Decodes the text format of COPY. */
function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\(.)/g, (_, after) => ESCAPES[after] ?? after) : text
}
