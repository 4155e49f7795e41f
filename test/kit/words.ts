/** The rules of wording that a program can check: see "Code" in CONTRIBUTING.md. */

export interface SourceText {
  /** Relative to the root of the project. */
  file: string
  text: string
}

export interface WordsRule {
  name: string
  /** @returns a line for each violation */
  find(sources: readonly SourceText[]): string[]
}

/** Names of a former vocabulary, with the term that took their place. */
export const BANNED_NAMES: Record<string, string> = {
  LaneBook: 'DueIndex',
  Brisk: 'AdaptiveLimit',
  Lessons: 'CongestionFeedback',
  Foresight: 'PreSigner',
  KeptSignatures: 'SignatureCache',
  DeadEnd: 'Undeliverable',
  HandOver: 'DeliverLocally',
  StsBook: 'MtaStsCache',
  Refused: 'ApiError',
  UnderWay: 'Slab',
  PassingThread: 'OnDemandWorker',
  SparingLine: 'ThrottledLog',
  OneAtATime: 'SingleFlight',
  FairSlots: 'FairSemaphore',
  DueWatch: 'DueTimer',
  FreshMail: 'RecentMessageCache',
  VisitBook: 'VisitBatcher',
  Witness: 'DnsObserver',
  Inquiries: 'CheckSessions',
}
const COMMENT_COLUMNS_MAX = 110
const COMMENT = /(?<=^[ \t]*)\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$/gm
const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm
const STRING = /'(?:[^'\\\n]|\\.)*'/g
/**
 * Limits end in `_MAX` or `_MIN`, or begin with `max` or `min`; what throws unless a condition holds,
 * `require`.
 */
const FORMER_LIMIT =
  /\b(?:(?:MOST|LONGEST|LARGEST|FEWEST|SMALLEST)(?:_[A-Z0-9]+)*|(?:most|least|insistOn)[A-Z]\w*)\b/g

/** Participles and other words that hide what a value is: a cache, options, a request, a reply, a poll, a limit. */
const VAGUE_NAME = /(?<![\w$.'"`/-]|\bat )#?(?:kept|given|asked|said|look|hurry|most|least)(?![\w$'"`/-])/g
const COMMENT_OR_STRING =
  /\/\*[\s\S]*?\*\/|(?<=^|[\s;{}(,])\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/(?![/*])(?:[^/\\\n]|\\.)+\/[a-z]*/g

/** First words of a docstring that is not a sentence, because its subject is missing. */
const WITHOUT_SUBJECT =
  /^[ \t]*\/\*\*\s+(?:\* )?((?:What|Of|As|How|Where|By|Those|Whom?|Whose|With|In|On) [^\n]{0,40})/gm

/** A number whose name says neither what it counts nor its unit. */
const WITHOUT_UNIT =
  /^(?:export )?const ((?!\w*_PER_)(?:[A-Z0-9]+_)*(?:TIMEOUT|DELAY|INTERVAL|PERIOD|AGE|WAIT|SIZE|LENGTH|WIDTH|PATIENCE|ENOUGH|TOGETHER|SECOND|MINUTE|HOUR|DAY|WEEK|KB|MB)) = [\d(A-Z]/gm

export const WORDS_RULES: readonly WordsRule[] = [
  {
    name: 'names of the former vocabulary do not come back',
    find: sources =>
      sources.flatMap(({ file, text }) =>
        Object.keys(BANNED_NAMES)
          .filter(name => new RegExp(`\\b${name}\\b`).test(text.replace(STRING, ''))) // a string may contain it
          .map(name => `${file}: ${name} is called ${BANNED_NAMES[name]}`),
      ),
  },
  {
    name: 'an exported type name stands for one thing',
    find(sources) {
      const filesOf = new Map<string, string[]>()
      for (const { file, text } of sources.filter(isOfServer))
        for (const [, name] of text.matchAll(EXPORTED_TYPE))
          filesOf.set(name!, [...(filesOf.get(name!) ?? []), file])
      return [...filesOf]
        .filter(([, files]) => files.length > 1)
        .map(([name, files]) => `${name} is exported by ${files.join(' and ')}`)
    },
  },
  {
    name: `comments have at most ${COMMENT_COLUMNS_MAX} columns`,
    find: sources =>
      sources.flatMap(({ file, text }) =>
        [...text.matchAll(COMMENT)]
          .flatMap(([comment]) => comment.split('\n'))
          .filter(line => line.length > COMMENT_COLUMNS_MAX && !line.includes('biome-ignore'))
          .map(line => `${file}: ${line.trim().slice(0, 60)}…`),
      ),
  },
  {
    name: 'a docstring begins with its subject or verb',
    find: sources =>
      sources
        .filter(({ file }) => !file.startsWith('src/'))
        .flatMap(({ file, text }) =>
          [...text.matchAll(WITHOUT_SUBJECT)].map(([, beginning]) => `${file}: ${beginning}…`),
        ),
  },
  {
    name: 'limits are named X_MAX or maxX, and checks requireX',
    find: sources =>
      sources.flatMap(({ file, text }) =>
        [...new Set([...text.matchAll(FORMER_LIMIT)].map(([name]) => name))].map(name => `${file}: ${name}`),
      ),
  },
  {
    name: 'a name says what the value is',
    find: sources =>
      sources
        .filter(({ file }) => !/^(?:src\/interfaces\/dashboard\/web|test)\//.test(file))
        .flatMap(({ file, text }) =>
          [...new Set(text.replace(COMMENT_OR_STRING, '').match(VAGUE_NAME))].map(name => `${file}: ${name}`),
        ),
  },
  {
    name: 'a number carries its unit',
    find: sources =>
      sources.flatMap(({ file, text }) =>
        [...text.matchAll(WITHOUT_UNIT)].map(([, name]) => `${file}: ${name}`),
      ),
  },
]

function isOfServer({ file }: SourceText): boolean {
  return file.startsWith('src/') && !file.startsWith('src/interfaces/dashboard/web/')
}
