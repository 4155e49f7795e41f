/** Reads the words of a search for any email, as a user types or pastes them. */
import { foldText } from '../../lib/fold-text.ts'
import { type Id, parseWireId } from '../../lib/ids.ts'

export interface SearchWord {
  /** Folded part of a subject or of details. */
  part: string
  /** Set if the word is an email's id, or a Message-ID that is made of one. */
  id?: Id
}

/** Characters around an address or a Message-ID in a header or a sentence. */
const AROUND = /^[<"'(,;]+|[>"'),;]+$/g

/** @returns undefined without a word */
export function readSearchWords(text: string): SearchWord[] | undefined {
  const parts = foldText(text.replaceAll('\0', '\ufffd'))
    .split(/\s+/)
    .map(part => part.replace(AROUND, ''))
  const words = [...new Set(parts)].filter(part => part !== '').map(wordOf)
  return words.length === 0 ? undefined : words
}

function wordOf(part: string): SearchWord {
  const id = parseWireId('eml', part.replace(/@.*$/, ''))
  return id ? { part, id } : { part }
}
