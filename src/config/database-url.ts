/** Where everything is stored; what the store makes of it, it says itself. */
import { faultIn } from '../store/dialect.ts'
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
