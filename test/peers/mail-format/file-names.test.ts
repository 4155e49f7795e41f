import * as assert from 'uvu/assert'
import { suite } from '../../kit/suite.ts'
import { compose } from '../../unit/protocols/mime/messages.ts'
import { readers } from '../../unit/protocols/mime/readers.ts'
import { runPython, runScript, temporaryFolder, writeMessages } from './tools.ts'

const test = suite('peers/mail-format: file names')

const NAMES = [
  'invoice 2026.pdf',
  'a "b".pdf',
  '"".pdf',
  `a;b='c', (1) [2] 100%.pdf`,
  `${'long ASCII '.repeat(22)}.pdf`,
  '請求書.pdf',
  'Prüfbericht Q1.pdf',
  'Größe "XL"; 50 %*.pdf',
  'счёт-фактура № 7.pdf',
  'تقرير.pdf',
  '👩‍👩‍👧 party 🎉.pdf',
  `${'請求書'.repeat(83)}.pdf`,
  `${'Отчёт '.repeat(41)}.pdf`,
  `${'👍'.repeat(250)}.pdf`,
]

const PERL = 'libemail-mime-perl'
const CLASSES = '/usr/share/java/javax.mail.jar:/usr/share/java/javax.activation.jar'
const peers: [name: string, read: (folder: string) => Promise<unknown>][] = [
  ['Python with its default policy', folder => runPython('read_names.py', [folder, 'compat32'], 'python3')],
  ['Python with its modern policy', folder => runPython('read_names.py', [folder, 'default'], 'python3')],
  ['Ruby mail', folder => runScript(['/usr/bin/ruby'], 'read_names.rb', [folder], 'ruby-mail')],
  ['Email::MIME', folder => runScript(['/usr/bin/perl'], 'read_names.pl', [folder], PERL)],
  ['Go', folder => runScript(['/usr/bin/go', 'run'], 'read_names.go', [folder], 'golang-go')],
  [
    'JavaMail',
    folder =>
      runScript(
        ['/usr/bin/java', '-cp', CLASSES],
        'ReadNames.java',
        [folder],
        'libmail-java and default-jdk-headless',
      ),
  ],
]
for (const [peer, read] of peers)
  test(`${peer} reads every file name as it was given`, async t => {
    const folder = await temporaryFolder(t)
    await writeMessages(folder, NAMES.map(messageWith))
    const names = (await read(folder)) as Record<string, string>
    assert.equal(
      NAMES.map((_, at) => names[`${at}.eml`]),
      NAMES,
    )
  })

for (const [reader, read] of readers)
  test(`${reader} reads every file name as it was given`, async () => {
    for (const name of NAMES) assert.is((await read(messageWith(name))).attachments[0]!.filename, name)
  })

function messageWith(filename: string): Buffer {
  const attachment = {
    filename,
    contentType: 'application/pdf',
    contentId: null,
    content: Buffer.from('paper'),
  }
  return compose({ text: 'x', attachments: [attachment] })
}

test.run()
