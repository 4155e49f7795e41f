/** Records of the operator's own for the provider zone, one a line, as in a zone file. */
import { parseRecord, RecordFault } from '../protocols/dns/record-text.ts'
import { list, type Setting, SettingFault } from './setting.ts'

/** Until the configuration is whole nobody knows the zone's name. */
const ANY_ORIGIN = 'zone.invalid'
/** Up to a `;` that is not inside quotation marks. */
const LINE = /(?:"(?:[^"\\]|\\.)*"|[^;"]|")+/g

/** The lines themselves, each found good. A text in the environment holds several behind `;`. */
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
    throw new SettingFault(`has ${JSON.stringify(line)}, which ${error.message}`)
  }
}
