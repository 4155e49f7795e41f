/** Ukrainian texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const uk: PageTexts = {
  sender: name => (name === undefined ? 'цього відправника' : `відправника ${name}`),
  emailsFrom: sender => `Листи від ${sender}`,
  emailsAbout: topic => `Листи на тему «${topic}»`,
  receives: (address, sender) => `Ви отримуєте листи від ${sender} на адресу ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Ви отримуєте листи від ${sender} на тему «${topic}» на адресу ${address}.`,
  leftAll: (address, sender) => `Адресу ${address} відписано від усіх листів ${sender}.`,
  leftTopic: (address, topic) => `Адресу ${address} відписано від листів на тему «${topic}».`,
  saved: 'Ваші налаштування збережено.',
  subscribedAgain: 'Підписку відновлено.',
  leaveTopic: topic => `Відписатися від теми «${topic}»`,
  leaveAll: 'Відписатися від усіх листів',
  subscribeAgain: 'Підписатися знову',
  save: 'Зберегти',
  chooseTopics: 'Або виберіть теми',
  selectToReturn: 'Виберіть теми, на які хочете підписатися. Без вибору адреса залишиться відписаною.',
  from: 'Від',
  to: 'Кому',
  cc: 'Копія',
  date: 'Дата',
  email: 'Текст листа',
  brokenLink: 'Це посилання не працює',
  brokenLinkHint: 'Можливо, його обрізано або змінено. Відкрийте його з листа ще раз.',
  emailGone: 'Цей лист більше не доступний',
  emailGoneHint:
    'Листи можна читати в браузері протягом обмеженого часу. Можливо, він ще є у вашій скриньці.',
}
