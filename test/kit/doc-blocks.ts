/** Reads the blocks of commands in documentation pages, and the marks of those that tests cannot run. */

export interface DocBlock {
  /** Line of its first command, counted from 1. */
  line: number
  text: string
  /** Why tests do not run it, from `<!-- not run: … -->` on the line before; undefined if they do. */
  notRun: string | undefined
}

const FENCE = /^( *)```(\w*)$/
const SHELL = new Set(['', 'sh', 'bash'])
const MARK = /^<!-- not run: (.+) -->$/
/** A command of Mailhorn, or a call of its API. Settings may stand in front. */
const COMMAND = /^(?:[A-Z_]+=\S* )*(?:curl|(?:[^\s=]*\/)?mailhorn) /m

/** Returns the blocks with a command of Mailhorn or a call of its API, in the order of the page. */
export function commandBlocks(page: string): DocBlock[] {
  return shellBlocks(page).filter(({ text }) => COMMAND.test(text))
}

/** Returns the lines with marks that do not stand before a block of commands. */
export function strayMarks(page: string): number[] {
  const marked = new Set(commandBlocks(page).flatMap(({ line, notRun }) => (notRun ? [line - 2] : [])))
  return page
    .split('\n')
    .flatMap((line, at) => (MARK.test(line.trim()) && !marked.has(at + 1) ? [at + 1] : []))
}

/** Returns the blocks of shell commands, whatever they call, in the order of the page. */
export function shellBlocks(page: string): DocBlock[] {
  return codeBlocks(page).filter(({ language }) => SHELL.has(language))
}

function codeBlocks(page: string): (DocBlock & { language: string })[] {
  const lines = page.split('\n')
  const blocks: (DocBlock & { language: string })[] = []
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at]!)
    if (!fence) continue
    const end = lines.indexOf(`${fence[1]}\`\`\``, at + 1)
    if (end < 0) throw new Error(`the block in line ${at + 1} has no end`)
    const text = `${lines.slice(at + 1, end).join('\n')}\n`
    const notRun = MARK.exec((lines[at - 1] ?? '').trim())?.[1]
    blocks.push({ line: at + 2, language: fence[2]!, text, notRun })
    at = end
  }
  return blocks
}
