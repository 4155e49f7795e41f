/** Reads the URL of the database. The store validates the URL. */
import { faultIn } from '../store/opening/dialect.ts'
import { type Setting, SettingFault, text } from './setting.ts'

export function databaseUrl(fallback: string, doc: string): Setting<string> {
  const { read, ...setting } = text(fallback, doc, { secret: true })
  return {
    ...setting,
    read(raw) {
      const url = read(raw)
      const fault = faultIn(url)
      if (fault !== undefined) throw new SettingFault(fault)
      return url
    },
  }
}
