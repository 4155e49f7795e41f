/** Reads additional records of the provider zone, in zone file syntax, one per entry. */
import { parseRecord, RecordFault } from '../protocols/dns/record-text.ts'
import { list, type Setting, SettingFault } from './setting.ts'

/** Placeholder, because the name of the zone is known only after the whole configuration has been read. */
const ANY_ORIGIN = 'zone.invalid'
/** Matches one record: everything up to a `;` outside quotation marks. */
const LINE = /(?:"(?:[^"\\]|\\.)*"|[^;"]|")+/g

/** Validates each record and returns the lines. In the environment, records are separated by `;`. */
export function readZoneRecords(doc: string): Setting<readonly string[]> {
  const { read } = list([], doc)
  return {
    read(raw) {
      const lines = read(typeof raw === 'string' ? (raw.match(LINE) ?? []) : raw)
      for (const line of lines) check(line)
      return lines
    },
    fallback: [],
    doc,
    shown: 'none',
  }
}

function check(line: string) {
  try {
    parseRecord(line, ANY_ORIGIN)
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error
    throw new SettingFault(`contains ${JSON.stringify(line)}, which ${error.message}`)
  }
}
