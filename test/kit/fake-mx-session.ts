/**
 * One session of the scripted MX: reads commands as strictly as the RFCs allow and answers as it was told to.
 */
import { isAscii } from 'node:buffer'
import type { Socket } from 'node:net'
import type { FakeMxState } from './fake-mx.ts'
import { type Behaviour, behaviourOf, type Fault, type Point } from './fake-mx-behaviour.ts'
import { DataCollector, type MessageCollector } from './fake-mx-data.ts'
import { FakeMxLine } from './fake-mx-line.ts'

interface Recipient {
  address: string
  behaviour: Behaviour
  params: Map<string, string>
}

interface Mail {
  from: string
  /** Keywords in capitals. */
  params: Map<string, string>
  recipients: Recipient[]
  /** Whether a recipient was refused. */
  refused: boolean
}

/** Commands that must be the last of a group (RFC 2920 §3.1). */
const LAST_IN_GROUP = new Set(['EHLO', 'HELO', 'DATA', 'QUIT', 'NOOP', 'VRFY', 'EXPN', 'STARTTLS'])
const PATH = /^(?:MAIL FROM|RCPT TO):<((?:"(?:[^"\\]|\\.)*"|[^<>"])*)>((?: [A-Z0-9-]+(?:=[^ ]+)?)*)$/i
const LF = 10
/** The extension that allows a parameter of MAIL or RCPT. */
const ALLOWED_BY: Record<string, string> = {
  SIZE: 'SIZE',
  BODY: '8BITMIME',
  SMTPUTF8: 'SMTPUTF8',
  REQUIRETLS: 'REQUIRETLS',
  RET: 'DSN',
  ENVID: 'DSN',
  NOTIFY: 'DSN',
  ORCPT: 'DSN',
}

export class FakeMxSession {
  readonly #mx: FakeMxState
  readonly #id: number
  readonly #line: FakeMxLine
  #input: Buffer = Buffer.alloc(0)
  #work: Promise<void> = Promise.resolve()
  #jobCount = 0
  #greeted = false
  #mail: Mail | undefined
  #data: MessageCollector | undefined
  /** The message of former chunks, while the last one is still to come. */
  #messageCount = 0
  #loggedIn = false
  /** Takes the next line in place of a command. */
  #onLine: ((line: string) => Promise<void>) | undefined

  constructor(mx: FakeMxState, socket: Socket, id: number) {
    this.#mx = mx
    this.#id = id
    this.#line = new FakeMxLine(mx, socket, id, chunk => this.#onData(chunk))
    if (mx.implicitTls) this.#line.startTls(undefined)
    this.#enqueue(() => this.#greet())
  }

  get #pipelining(): boolean {
    return this.#mx.extensions.includes('PIPELINING')
  }

  #onData(chunk: Buffer) {
    if (this.#data) return this.#onMessage(this.#data, chunk)
    if (!this.#greeted) this.#line.violation('talks before the greeting')
    else if (this.#jobCount > 0 && !this.#pipelining) this.#line.violation('pipelining without permission')
    this.#input = Buffer.concat([this.#input, chunk])
    if (this.#jobCount === 0) this.#enqueue(() => this.#readOn())
  }

  /** Does one thing after the other; what was said leaves when there is nothing more to read. */
  #enqueue(job: () => Promise<void>) {
    this.#jobCount++
    this.#work = this.#work.then(job).then(async () => {
      await this.#line.flush()
      if (--this.#jobCount === 0 && !this.#line.over && !this.#data && this.#input.includes(LF))
        this.#enqueue(() => this.#readOn())
    })
  }

  async #greet() {
    await this.#answer('banner', `220 ${this.#mx.name} ESMTP`)
    this.#greeted = true
  }

  async #readOn() {
    while (!this.#line.over && !this.#data) {
      const end = this.#input.indexOf(LF)
      if (end < 0) return
      const command = this.#input.toString('utf8', 0, end)
      this.#input = this.#input.subarray(end + 1)
      if (!/^[^\r]*\r$/.test(command)) this.#line.violation('a command with bare CR or LF')
      const onLine = this.#onLine
      this.#onLine = undefined
      await (onLine ? onLine(command.trimEnd()) : this.#obey(command.trimEnd()))
    }
  }

  async #obey(command: string) {
    this.#line.note('C', command)
    const verb = command.split(' ')[0]!.toUpperCase()
    if (this.#input.length > 0 && LAST_IN_GROUP.has(verb))
      this.#line.violation(`something after ${verb} in one group`)
    else if (this.#input.length > 0 && !this.#pipelining)
      this.#line.violation('pipelining without permission')
    if (verb === 'EHLO') return this.#onEhlo()
    if (verb === 'HELO') return void (await this.#answer('helo', `250 ${this.#mx.name}`))
    if (verb === 'STARTTLS') return this.#onStartTls()
    if (verb === 'AUTH') return this.#onAuth(command)
    if (verb === 'MAIL') return this.#onMail(command)
    if (verb === 'RCPT') return this.#onRcpt(command)
    if (verb === 'DATA') return this.#onDataCommand()
    this.#mail = undefined
    if (verb === 'RSET') return void (await this.#answer('rset', '250 2.0.0 reset'))
    if (verb === 'QUIT') {
      await this.#answer('quit', '221 2.0.0 bye')
      return this.#line.end('drop')
    }
    this.#line.violation(`an unknown command ${JSON.stringify(command)}`)
    this.#line.say('500 5.5.1 what?')
  }

  async #onEhlo() {
    this.#mail = undefined
    const { secured } = this.#line
    const { extensions, login } = this.#mx
    const offered = extensions.filter(word => !(secured && word === 'STARTTLS'))
    const auth = login && secured ? [`AUTH ${login.mechanisms ?? 'PLAIN LOGIN'}`] : []
    const lines = [this.#mx.name, ...offered, ...auth]
    const reply = lines.map((text, i) => `250${i === lines.length - 1 ? ' ' : '-'}${text}`).join('\r\n')
    await this.#answer(secured ? 'ehlo-tls' : 'ehlo', reply)
  }

  async #onStartTls() {
    const { tls, injectAfterStartTls = '' } = this.#mx
    if (tls === 'refused-454') return this.#line.say('454 4.7.0 TLS not available')
    if (!(await this.#answer('starttls', '220 2.0.0 go ahead'))) return
    this.#line.inject(injectAfterStartTls)
    await this.#line.flush()
    this.#input = Buffer.alloc(0)
    const faults: Partial<Record<typeof tls, Fault>> = { hang: 'hang', 'handshake-fails': 'garbage' }
    this.#line.startTls(this.#faultAt('tls') ?? faults[tls])
  }

  /** PLAIN with its initial response, and LOGIN. */
  async #onAuth(command: string) {
    const { login } = this.#mx
    const [, mechanism, initial] = command.split(' ')
    if (!login || !this.#line.secured || this.#loggedIn) this.#line.violation('AUTH without permission')
    if (mechanism === 'PLAIN') return this.#onSecret(`\0${login?.user}\0${login?.password}`, initial ?? '')
    if (mechanism !== 'LOGIN') return this.#line.say('504 5.5.4 unknown mechanism')
    this.#line.say('334 VXNlcm5hbWU6')
    this.#onLine = async user => {
      this.#line.say('334 UGFzc3dvcmQ6')
      this.#onLine = password =>
        this.#onSecret(`${login?.user} ${login?.password}`, password, `${decoded(user)} `)
    }
  }

  async #onSecret(expected: string, source: string, before = '') {
    if (before + decoded(source) !== expected)
      return this.#line.say(`535 5.7.8 ${decoded(source)} is not right, nor is ${source}`)
    this.#loggedIn = await this.#answer('auth', '235 2.7.0 welcome')
  }

  async #onMail(command: string) {
    if (this.#mx.login && !this.#loggedIn) return this.#line.say('530 5.7.0 who are you?')
    if (this.#mx.insistsOnTls && !this.#line.secured)
      return this.#line.say('530 5.7.0 Must issue a STARTTLS command first')
    const parsed = PATH.exec(command)
    if (!parsed || this.#mail) {
      this.#line.violation(`a bad or nested MAIL: ${command}`)
      return this.#line.say('503 5.5.1 bad MAIL')
    }
    const params = this.#parametersOf(parsed[2]!)
    const next = /^RCPT TO:<(.*)>/im.exec(this.#input.toString('utf8'))
    const fault = next && behaviourOf(next[1]!).at.mail
    if (fault) return this.#line.misbehave(fault)
    const mail = { from: parsed[1]!, params, recipients: [], refused: false }
    if (await this.#answer('mail', '250 2.1.0 sender ok')) this.#mail = mail
  }

  async #onRcpt(command: string) {
    const parsed = PATH.exec(command)
    const mail = this.#mail
    if (!parsed) this.#line.violation(`a bad RCPT: ${command}`)
    if (!parsed || !mail) return this.#line.say('503 5.5.1 need MAIL first')
    const address = parsed[1]!
    const recipient = { address, behaviour: behaviourOf(address), params: this.#parametersOf(parsed[2]!) }
    const tries = (this.#mx.tries.get(recipient.address.toLowerCase()) ?? 0) + 1
    this.#mx.tries.set(recipient.address.toLowerCase(), tries)
    const refusal = this.#refusalOf(recipient.behaviour, mail, tries)
    if (refusal !== undefined) await this.#line.misbehave(refusal)
    else if (await this.#answer('rcpt', '250 2.1.5 recipient ok', [recipient])) {
      mail.recipients.push(recipient)
      return
    }
    mail.refused = true
  }

  #parametersOf(text: string): Map<string, string> {
    const params = new Map(text.split(' ').filter(Boolean).map(parameter))
    const offered = new Set(this.#mx.extensions.map(extension => extension.split(' ')[0]))
    for (const name of params.keys())
      if (!offered.has(ALLOWED_BY[name] ?? '')) this.#line.violation(`${name} without permission`)
    return params
  }

  #refusalOf(behaviour: Behaviour, mail: Mail, tries: number): Fault | undefined {
    const { greyTimes = 0, messagesPerSession = Infinity, recipientsPerMessage = Infinity } = behaviour
    if (tries <= greyTimes) return '451 4.7.1 greylisted, come back later'
    if (this.#messageCount >= messagesPerSession) return '421 4.7.0 too many messages in this session'
    if (mail.recipients.length >= recipientsPerMessage) return '452 4.5.3 too many recipients'
    return undefined
  }

  async #onDataCommand() {
    const recipients = this.#mail?.recipients ?? []
    const refused = this.#mail?.refused ? (this.#mx.dataAfterRefusedRcpt ?? '554') : '503'
    if (recipients.length === 0 && refused !== '354')
      return this.#line.say(refused === '554' ? '554 5.5.1 no valid recipients' : '503 5.5.1 no recipients')
    if (!(await this.#answer('data', '354 go ahead', recipients))) return
    await this.#line.flush()
    this.#data = new DataCollector()
    const early = this.#input
    this.#input = Buffer.alloc(0)
    if (early.length > 0) this.#onMessage(this.#data, early)
  }

  #onMessage(data: MessageCollector, chunk: Buffer) {
    const fault = this.#faultAt('body', this.#mail?.recipients)
    if (fault !== undefined) return this.#enqueue(() => this.#breakOff(fault))
    const rest = data.push(chunk)
    if (rest === undefined) return
    this.#data = undefined
    this.#input = rest
    this.#enqueue(() => this.#onDot(data))
  }

  /** After a fault in the middle of a message nothing more is read. */
  async #breakOff(fault: Fault) {
    if (this.#line.over) return
    await this.#line.misbehave(fault)
    if (!this.#line.over) await this.#line.end('stall')
  }

  async #onDot(data: MessageCollector) {
    const mail = this.#mail!
    this.#mail = undefined
    for (const violation of data.violations()) this.#line.violation(violation)
    if (this.#input.length > 0 && !this.#pipelining) this.#line.violation('pipelining without permission')
    const message = data.message()
    this.#line.note('C', `(${message.length} bytes of message)`)
    if (mail.recipients.length === 0) return this.#line.say('554 5.5.1 no valid recipients')
    if (!isAscii(message)) {
      const offered = this.#mx.extensions.includes('8BITMIME')
      if (offered && mail.params.get('BODY') !== '8BITMIME')
        this.#line.violation('8-bit bytes without BODY=8BITMIME')
      if (mail.recipients.some(({ behaviour }) => behaviour.refusesEightBit))
        return this.#line.say('554 5.6.1 8-bit bytes')
    }
    await this.#answer('dot', '250 2.0.0 taken', mail.recipients, () => this.#take(mail, message))
    if (this.#mx.acceptThenClose) await this.#line.end('drop')
  }

  #take(mail: Mail, data: Buffer) {
    this.#messageCount++
    const headersEnd = data.indexOf('\r\n\r\n')
    this.#mx.take({
      mailFrom: mail.from,
      rcptTo: mail.recipients.map(({ address }) => address),
      data,
      headers: data.toString('utf8', 0, headersEnd < 0 ? data.length : headersEnd + 2),
      sessionId: this.#id,
      clientAddress: this.#line.clientAddress,
      tls: this.#line.secured,
      params: mail.params,
      rcptParams: mail.recipients.map(({ params }) => params),
    })
  }

  /** Says `reply`, or does what the script wants at this point instead. Tells whether `reply` was said. */
  async #answer(
    point: Point,
    reply: string,
    recipients: Recipient[] = [],
    before = () => {},
  ): Promise<boolean> {
    const delays = recipients.map(({ behaviour }) => behaviour.delayMs[point] ?? 0)
    const delayMs = Math.max(this.#mx.delayMs ?? 0, ...delays)
    if (delayMs > 0) {
      await this.#line.flush()
      await new Promise(resolve => setTimeout(resolve, delayMs))
    }
    const fault = this.#faultAt(point, recipients)
    if (fault !== undefined) await this.#line.misbehave(fault)
    if (fault !== undefined || this.#line.over) return false
    before()
    this.#line.say(reply)
    return true
  }

  #faultAt(point: Point, recipients: Recipient[] = []): Fault | undefined {
    const times = this.#mx.pointCounts.get(point) ?? 0
    this.#mx.pointCounts.set(point, times + 1)
    const scripted = this.#mx.at?.[point]
    const general = typeof scripted === 'function' ? scripted(times) : scripted
    return (
      general ?? recipients.map(({ behaviour }) => behaviour.at[point]).find(fault => fault !== undefined)
    )
  }
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}

function parameter(word: string): [string, string] {
  const equals = word.indexOf('=')
  return equals < 0 ? [word.toUpperCase(), ''] : [word.slice(0, equals).toUpperCase(), word.slice(equals + 1)]
}
