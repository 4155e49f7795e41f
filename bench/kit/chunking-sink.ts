/** A sink that offers CHUNKING, which Debian's smtp-sink does not: takes everything, counts it, and says so as that one does. */
import { writeSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

export const CHUNKING_SINK = fileURLToPath(import.meta.url)

const REPLIES: Readonly<Record<string, string>> = {
  EHLO: '250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 CHUNKING\r\n',
  DATA: '354 go ahead\r\n',
  QUIT: '221 2.0.0 bye\r\n',
}
const OK = '250 2.0.0 Ok\r\n'
const END_OF_DATA = '\r\n.\r\n'
let count = 0

function serve(socket: Socket) {
  /** Read and not understood yet: in Latin-1 a character is an octet. */
  let input = ''
  let chunkLeft = 0
  let isLastChunk = false
  let inData = false

  const taken = () => {
    count++
    return OK
  }
  /** The reply to the next thing that is there in whole; undefined where nothing is. */
  const next = (): string | undefined => {
    if (inData) {
      const end = input.indexOf(END_OF_DATA)
      if (end < 0) return undefined
      input = input.slice(end + END_OF_DATA.length)
      inData = false
      return taken()
    }
    if (chunkLeft > 0) {
      if (input.length < chunkLeft) return undefined
      input = input.slice(chunkLeft)
      chunkLeft = 0
      return isLastChunk ? taken() : OK
    }
    const end = input.indexOf('\r\n')
    if (end < 0) return undefined
    const [verb = '', size, last] = input.slice(0, end).split(' ')
    input = input.slice(end + 2)
    if (verb === 'BDAT') {
      chunkLeft = Number(size)
      isLastChunk = last === 'LAST'
      return ''
    }
    inData = verb === 'DATA'
    return REPLIES[verb] ?? OK
  }

  socket.setEncoding('latin1').on('error', () => socket.destroy())
  socket.on('data', (text: string) => {
    const before = count
    input += text
    let replies = ''
    for (let reply = next(); reply !== undefined; reply = next()) replies += reply
    if (replies !== '') socket.write(replies)
    if (count > before) writeSync(1, `mesg=${count}\n`)
    if (replies.endsWith(REPLIES.QUIT!)) socket.end()
  })
  socket.write('220 sink.test ESMTP\r\n')
}

if (process.argv[1] === CHUNKING_SINK) {
  const [host, port] = process.argv.slice(2)
  createServer({ noDelay: true }, serve).listen(Number(port), host)
}
