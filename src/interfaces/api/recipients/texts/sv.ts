/** Swedish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const sv: PageTexts = {
  sender: name => name ?? 'den här avsändaren',
  emailsFrom: sender => `E-post från ${sender}`,
  emailsAbout: topic => `E-post om ${topic}`,
  receives: (address, sender) => `Du får e-post från ${sender} till ${address}.`,
  receivesAbout: (address, sender, topic) => `Du får e-post om ${topic} från ${sender} till ${address}.`,
  leftAll: (address, sender) => `${address} är avregistrerad från all e-post från ${sender}.`,
  leftTopic: (address, topic) => `${address} är avregistrerad från e-post om ${topic}.`,
  saved: 'Dina inställningar har sparats.',
  subscribedAgain: 'Du prenumererar igen.',
  leaveTopic: topic => `Avregistrera mig från ${topic}`,
  leaveAll: 'Avregistrera mig från all e-post',
  subscribeAgain: 'Prenumerera igen',
  save: 'Spara',
  chooseTopics: 'Eller välj dina ämnen',
  selectToReturn: 'Välj de ämnen du vill prenumerera på. Om du inte väljer något förblir du avregistrerad.',
  from: 'Från',
  to: 'Till',
  cc: 'Kopia',
  date: 'Datum',
  email: 'Meddelandet',
  brokenLink: 'Länken fungerar inte',
  brokenLinkHint: 'Den kan ha klippts av eller ändrats. Öppna den från meddelandet igen.',
  emailGone: 'Meddelandet är inte längre tillgängligt',
  emailGoneHint: 'E-post kan läsas i webbläsaren under en begränsad tid. Det kan finnas kvar i din inkorg.',
}
