/**
 * Fills a store in a process whose files cannot grow past a limit, which to SQLite is a disk without room;
 * run by `full-disk.test.ts`, with the data folder as its argument. Says what happened, as JSON.
 */
import type { Store } from '../../../src/store/opening/open.ts'
import { openThreadStore } from '../../kit/store.ts'
import type { ScriptedCommands } from './scripted-writer.ts'

process.on('SIGXFSZ', () => {})

const folder = process.argv[2]!
const deaths: string[] = []
const value = 'x'.repeat(900_000)

const open = () =>
  openThreadStore<ScriptedCommands>({
    folder,
    writerThread: new URL('./scripted-writer.ts', import.meta.url),
    onLoss: error => void deaths.push(error.message),
  })

async function put(store: Store<ScriptedCommands>, key: string): Promise<string> {
  try {
    await store.run('putSetting', { key, value })
    return 'stored'
  } catch (error) {
    return (error as Error).constructor.name
  }
}

const first = await open()
const puts = [await put(first, 'first')]
await first.close()

const second = await open()
puts.push(await put(second, 'second'))
await second.close()

const third = await open()
puts.push(await put(third, 'third'))
const keys = await third.db.selectFrom('settings').select('key').orderBy('key').execute()
await third.close()

process.stdout.write(JSON.stringify({ puts, keys: keys.map(({ key }) => key), deaths }))
