/** Decides by the name and the values of a column whether it says who has left, or may say so. */
import { type ColumnValues, hasOpposites, looksLikeAnswers, rowsOf } from './answer-shapes.ts'
import type { ConsentColumn } from './columns.ts'
import { mayBeSilent } from './consent.ts'
import { isReason, type Suspicion, suspicionOf } from './consent-names.ts'
import { isForbidding, PHRASE_CHARACTERS_MAX, wordsOf } from './contact-words.ts'
import { isAboutOthers, isKind, isOrdinary, isOrdinaryDate } from './ordinary-names.ts'

/** How a column without a known name says who has left; `ask` if that is not certain. */
type ColumnFinding = 'none' | 'ask' | 'left' | 'word'

/** Beside more different texts, a word of leaving that is said of much else means something else. */
const VAGUE_TEXTS_MAX = 4
/** In a column of dates since which mail is wanted, more empty cells than this part say nothing. */
const EMPTY_DATES_MAX = 0.5

/**
 * @param isSaidElsewhere whether the file has a column `unsubscribed`, so that only the names and words of
 *   other columns count
 */
export function findingOf(name: string, values: ColumnValues, isSaidElsewhere: boolean): ColumnFinding {
  const { counts, texts } = values
  if (texts.size === 0) return 'none'
  const suspicion = suspicionOf(name)
  if (!suspicion && isAboutOthers(name)) return 'none'
  if (counts.left > 0) return 'ask'
  const asWords = counts.word > 0 ? 'word' : 'none'
  if (counts.vague > 0 && (suspicion || hasOnlyWords(counts))) return 'ask'
  if (suspicion) return suspectedFinding(name, suspicion, values, isSaidElsewhere) ?? asWords
  if (isSaidElsewhere || isOrdinary(name)) return asWords
  if (counts.date > 0 && isOrdinaryDate(name)) return asWords
  return isReason(name) || isAmongFew(values) || looksLikeAnswers(values, false) ? 'ask' : asWords
}

/** Reads a column whose name is about leaving or staying. Returns undefined if nobody has left by it. */
function suspectedFinding(
  name: string,
  suspicion: Suspicion,
  values: ColumnValues,
  isSaidElsewhere: boolean,
): ColumnFinding | undefined {
  const { leaning, isStrong, isTopic, takesCodes } = suspicion
  const { counts } = values
  const { date, code, other } = counts
  if (isReason(name) || (isStrong && other > 0)) return 'ask'
  // a date says since when the name is true
  const isTrue = counts.true + date + (takesCodes ? code : 0)
  const isFalse = counts.false + counts.never + (takesCodes ? code : 0)
  const saysLeft = { left: isTrue, stays: isFalse, unclear: isTrue + isFalse }[leaning]
  const isFigure = isTopic && code > 0 && !takesCodes
  if (saysLeft > 0 && !isFigure)
    return isStrong && leaning === 'left' && date + code + other === 0 ? 'left' : 'ask'
  if (isSaidElsewhere) return undefined
  const isOrdinaryTime = date > 0 && isOrdinaryDate(name)
  if (leaning === 'stays' && !isOrdinaryTime && isEmptyForLeavers(values)) return 'ask'
  if (isAmongFew(values)) return 'ask'
  const isText = counts.true + counts.false + date === 0 && isKind(name)
  const isRead = isText || other + counts.none + (takesCodes ? 0 : code) + (isTopic ? date : 0) === 0
  if (isRead || (isTopic && isOrdinary(name, true)) || isOrdinaryTime) return undefined
  return looksLikeAnswers(values, true) ? 'ask' : undefined
}

/** Whether a column with a known name may say of somebody that they have left without being understood. */
export function mayHideLeaving({ name, meaning, answers }: ConsentColumn, values: ColumnValues): boolean {
  if (answers || meaning === 'tags') return false
  // 1 may be the code of any status
  const { counts } = values
  const hasWords = counts.word + counts.left + counts.vague + counts.stays > 0
  const isCoded = !hasWords && counts.true + counts.false > 0 && suspicionOf(name)?.takesCodes === true
  if (meaning === 'stays') return isCoded || isEmptyForLeavers(values)
  if (!mayBeSilent(meaning)) return false
  const texts = [...values.texts.keys()]
  return (
    (values.counts.none > 0 && texts.length <= VAGUE_TEXTS_MAX) ||
    hasOpposites(texts) ||
    texts.some(isNegated) ||
    (meaning === 'choice' && isEmptyForLeavers(values))
  )
}

/** Whether a value says no in several words, such as `nicht mehr`. */
function isNegated(value: string): boolean {
  const words = wordsOf(value)
  return words.length > 1 && value.length <= PHRASE_CHARACTERS_MAX && isForbidding(words)
}

/** Whether a few values, some of which are not understood, have one of leaving, or for no or none. */
function isAmongFew({ counts, texts }: ColumnValues): boolean {
  const isRepeated = texts.size <= 2 || rowsOf(texts) >= 2 * texts.size
  const isNo = rowsOf(texts) > 1 && [...texts.keys()].some(isNegated)
  const isAmbiguous = isNo || counts.vague + counts.none > 0 || (counts.word > 0 && counts.other > 0)
  return isAmbiguous && texts.size <= VAGUE_TEXTS_MAX && isRepeated
}

/** Whether the column says of nobody that they have left, and is empty for some. */
function isEmptyForLeavers({ counts, emptyCount }: ColumnValues): boolean {
  const empty = emptyCount + counts.nothing
  if (empty === 0 || counts.left + counts.vague + counts.word + counts.false + counts.never > 0) return false
  if (counts.date > 0) return empty / (empty + counts.date) < EMPTY_DATES_MAX
  return counts.true + counts.stays > 0 && counts.other + counts.code === 0
}

function hasOnlyWords(counts: ColumnValues['counts']): boolean {
  return counts.true + counts.false + counts.date + counts.never + counts.code + counts.other === 0
}
