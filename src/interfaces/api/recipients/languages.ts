/** Chooses the language of a page that recipients see. */
import { acceptedLanguages } from '../../../lib/accept-language.ts'
import { cs } from './texts/cs.ts'
import { da } from './texts/da.ts'
import { de } from './texts/de.ts'
import { en } from './texts/en.ts'
import { es } from './texts/es.ts'
import { fi } from './texts/fi.ts'
import { fr } from './texts/fr.ts'
import { it } from './texts/it.ts'
import { ja } from './texts/ja.ts'
import { nb } from './texts/nb.ts'
import { nl } from './texts/nl.ts'
import { pl } from './texts/pl.ts'
import { pt } from './texts/pt.ts'
import { sv } from './texts/sv.ts'
import type { PageTexts } from './texts/texts.ts'
import { tr } from './texts/tr.ts'
import { uk } from './texts/uk.ts'
import { zh } from './texts/zh.ts'

const TEXTS = { en, cs, da, de, es, fi, fr, it, ja, nb, nl, pl, pt, sv, tr, uk, zh }

type Language = keyof typeof TEXTS
export const LANGUAGES = Object.keys(TEXTS) as Language[]

/** Languages whose readers also read another one that has texts. */
const SUBSTITUTES: Readonly<Record<string, Language>> = { no: 'nb', nn: 'nb', '*': 'en' }

export interface PageLanguage {
  /** Value of the attribute `lang`. */
  code: Language
  texts: PageTexts
}

/**
 * Chooses the first language with texts.
 * @param known language tags that are known of the reader, such as `de`, `de-AT` or `pt_BR`
 * @param header `Accept-Language` header of the request
 * @returns English if there are texts in none of them
 */
export function pageLanguage(known: readonly string[], header = ''): PageLanguage {
  const code = [...known, ...acceptedLanguages(header)].map(codeOf).find(code => code !== undefined) ?? 'en'
  return { code, texts: TEXTS[code] }
}

function codeOf(tag: string): Language | undefined {
  const [, primary = ''] = /^\s*([a-z]{2,3}|\*)(?![a-z\d])/i.exec(tag) ?? []
  const code = primary.toLowerCase()
  if (Object.hasOwn(SUBSTITUTES, code)) return SUBSTITUTES[code]
  return LANGUAGES.find(language => language === code)
}
