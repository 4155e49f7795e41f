/**
 * HTML elements by their effect on a text: which ones are not text, begin a line or a paragraph, and end each
 * other. Called by `html-to-text.ts`.
 */

export const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
export const VOID = words('area base br col embed hr img input link meta param source track wbr')
/** Elements whose content is not text. */
export const UNSEEN = words(
  'style script title template xml svg select datalist textarea iframe noembed noframes',
)
/** Elements that begin and end a line. */
export const LINES = words(
  'address article aside body caption center dd details div dt fieldset figcaption footer form header html ' +
    'legend li main nav section summary tbody td tfoot th thead tr',
)
/** Elements with an empty line before and after them. */
export const PARAGRAPHS = words('blockquote dir dl figure h1 h2 h3 h4 h5 h6 hgroup menu ol p pre table ul')
export const LISTS = words('dir menu ol ul')
export const TABLE_PARTS = words('caption tbody td tfoot th thead tr')
/** A new element ends an open one of the group, unless the boundary has been opened between them. */
export const SIBLINGS: ReadonlyMap<string, { group: readonly string[]; within: readonly string[] }> = new Map(
  [
    ['a', { group: ['a'], within: [] }],
    ['p', { group: ['p'], within: ['button'] }],
    ['li', { group: ['li'], within: [...LISTS] }],
    ['dt', { group: ['dt', 'dd'], within: ['dl'] }],
    ['dd', { group: ['dt', 'dd'], within: ['dl'] }],
    ['td', { group: ['td', 'th'], within: ['tr'] }],
    ['th', { group: ['td', 'th'], within: ['tr'] }],
    ['tr', { group: ['tr'], within: [] }],
  ],
)
export const CELLS = ['td', 'th', 'caption', 'table']
