/**
 * Describes the settings in force for operators: value, origin, default and meaning of each. Secrets are not
 * shown.
 */
import { type Config, type LoadedSetting, pathOf, valueAt } from './config.ts'
import type { Setting } from './setting.ts'

export interface SettingInForce {
  key: string
  /** Null if the setting is empty or off. */
  value: string | null
  source: 'default' | 'file' | 'environment'
  /** Path of the file, or name of the variable; null for a default. */
  sourceName: string | null
  description: string
  unit: string | null
  isSecret: boolean
}

const HIDDEN = '[redacted]'
/** Login in a URL. */
const LOGIN = /\/\/[^/@\s]+@/g
/** Markdown of descriptions: code and links. */
const MARKUP = /`|\[(?=[^\]]+\]\()|\]\([^)]*\)/g

export function settingsInForce(
  config: Config,
  settings: ReadonlyMap<string, LoadedSetting>,
): SettingInForce[] {
  return [...settings].map(([key, { setting, written }]) => {
    const { doc, unit = null, secret: isSecret = false } = setting
    const text = textInForce(setting, written, valueAt(config, pathOf(key)))
    return {
      key,
      value: isSecret && written && text !== null ? HIDDEN : text,
      source: written?.source ?? 'default',
      sourceName: written?.name ?? null,
      description: doc.replace(MARKUP, ''),
      ...{ unit, isSecret },
    }
  })
}

/** Returns a text as it was derived, and other values as they were written, such as `25` or `03:00`. */
function textInForce(
  { shown, fallback }: Setting<unknown>,
  written: LoadedSetting['written'],
  value: unknown,
) {
  const derived = Array.isArray(value) ? value.filter(one => typeof one === 'string') : value
  const isText = typeof derived === 'string' || (Array.isArray(derived) && derived.length > 0)
  const plain = isText && derived !== '' ? derived : written ? written.raw : (shown ?? fallback)
  const text = Array.isArray(plain) ? plain.join(', ') : String(plain ?? '')
  return ['', 'off', 'none'].includes(text) ? null : text.replaceAll('`', '').replace(LOGIN, `//${HIDDEN}@`)
}
