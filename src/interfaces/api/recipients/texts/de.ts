/** German texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const de: PageTexts = {
  sender: name => name ?? 'diesem Absender',
  emailsFrom: sender => `E-Mails von ${sender}`,
  emailsAbout: topic => `E-Mails zum Thema ${topic}`,
  receives: (address, sender) => `Sie erhalten E-Mails von ${sender} an ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Sie erhalten E-Mails von ${sender} zum Thema ${topic} an ${address}.`,
  leftAll: (address, sender) => `${address} ist von allen E-Mails von ${sender} abgemeldet.`,
  leftTopic: (address, topic) => `${address} ist von E-Mails zum Thema ${topic} abgemeldet.`,
  saved: 'Ihre Einstellungen wurden gespeichert.',
  subscribedAgain: 'Sie sind wieder angemeldet.',
  leaveTopic: topic => `Von ${topic} abmelden`,
  leaveAll: 'Von allen E-Mails abmelden',
  subscribeAgain: 'Wieder anmelden',
  save: 'Speichern',
  chooseTopics: 'Oder wählen Sie Ihre Themen',
  selectToReturn: 'Wählen Sie Themen aus, die Sie erhalten möchten. Ohne Auswahl bleiben Sie abgemeldet.',
  from: 'Von',
  to: 'An',
  cc: 'Cc',
  date: 'Datum',
  email: 'Die E-Mail',
  brokenLink: 'Dieser Link funktioniert nicht',
  brokenLinkHint:
    'Er wurde vielleicht abgeschnitten oder verändert. Öffnen Sie ihn noch einmal aus der E-Mail.',
  emailGone: 'Diese E-Mail ist nicht mehr verfügbar',
  emailGoneHint:
    'E-Mails können nur eine begrenzte Zeit im Browser gelesen werden. Vielleicht ist sie noch in Ihrem Postfach.',
}
