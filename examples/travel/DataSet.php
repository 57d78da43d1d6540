<?php

declare(strict_types=1);

namespace Apus\Travel;

/** A data set made from its seed. Each record follows from the seed and its file's number alone. */
final class DataSet
{
    /** Records a file, as in the data of the HighLoad Cup. */
    private const FILE_ROWS = 10_000;
    private const DAY = 86_400;
    /** Days since 1970: births are from 1930 to 1999, visits from 2000 to 2014. */
    private const BIRTHS = [-14_610, 10_591];
    public const VISITS = [946_684_800, 1_420_070_399];

    public const COUNTRIES = [
        'Россия', 'Исландия', 'Чили', 'Япония', 'Кения', 'Перу', 'Норвегия', 'Греция', 'Марокко', 'Индия', 'Канада',
        'Мальта', 'Лаос', 'Куба', 'Эстония', 'Дания', 'Бразилия', 'Вьетнам', 'Швеция', 'Италия', 'Egypt', 'New Zealand',
        "Côte d'Ivoire", 'Österreich', 'Корея', 'Ирландия', 'Польша', 'Алжир', 'Оман', 'Фиджи',
    ];
    private const PLACES = ['Мост', 'Парк', 'Дворец', 'Ручей', 'Замок', 'Музей', 'Фонтан', 'Пляж', 'Маяк', 'Озеро', 'Площадь', 'Café "Swift"', 'Сквер', 'Театр', 'Пещера', 'Сад'];
    private const CITY_BEGINS = ['Бел', 'Нов', 'Лис', 'Бар', 'Рот', 'Кун', 'Сан', 'Мур', 'Вар', 'Эль', 'Кар', 'Тал', 'Зел', 'Нью', 'Порт', 'Гран'];
    private const CITY_ENDS = ['град', 'ск', 'дорф', 'бург', 'тон', 'лин', 'вилль', 'ополь', 'ква', 'хольм', 'амо', 'ино', 'штадт', 'стан'];
    private const NAMES = [
        'm' => ['Иван', 'Роман', 'Артём', 'Пётр', 'Семён', 'Виктор', 'Юрий', 'Борис', 'Даниил', 'Матвей', 'Олег', 'Глеб', 'Захар', 'Илья', 'Лев', 'Jörg'],
        'f' => ['Инна', 'Ольга', 'Анна', 'Вера', 'Дина', 'Мария', 'Ульяна', 'Нина', 'Лера', 'Юлия', 'Софья', 'Елена', 'Лада', 'Ирина', 'Алла', 'Zoë'],
    ];
    private const SURNAME_BEGINS = ['Терл', 'Фет', 'Лук', 'Клер', 'Дан', 'Пен', 'Кис', 'Стам', 'Хоп', 'Леб', 'Вас', 'Гор', 'Зим', 'Ерл', 'Мир', 'Сев'];
    private const SURNAME_MIDDLES = ['ат', 'ел', 'ок', 'ен', 'уш', 'ил', 'ар', 'ыв', 'ес', 'он'];
    private const SURNAME_ENDS = ['ов', 'ин', 'ко', 'ский', 'ян', 'енко', 'ич', 'ых'];
    private const MAILS = ['mail.ru', 'example.com', 'list.me', 'inbox.ru', 'ya.ru', 'post.example.org'];

    public function __construct(
        public readonly int $users,
        public readonly int $locations,
        public readonly int $visits,
        public readonly int $seed,
        public readonly int $now,
    ) {
    }

    public function write(string $directory, Progress $progress): void
    {
        foreach (['users' => $this->users, 'locations' => $this->locations, 'visits' => $this->visits] as $kind => $count) {
            for ($first = 1, $number = 1; $first <= $count; $first += self::FILE_ROWS, $number++) {
                $last = min($first + self::FILE_ROWS - 1, $count);
                mt_srand(crc32("$kind $number $this->seed"));
                $text = match ($kind) {
                    'users' => $this->users($first, $last),
                    'locations' => $this->locations($first, $last),
                    'visits' => $this->visits($first, $last),
                };
                $text = "{\"$kind\": [$text]}";
                file_put_contents("$directory/{$kind}_$number.json", $text);
                $progress->add($last - $first + 1, strlen($text));
            }
        }
        file_put_contents("$directory/options.txt", "$this->now\n0\n");
    }

    private function users(int $first, int $last): string
    {
        $text = '';
        for ($id = $first; $id <= $last; $id++) {
            $text .= ($id > $first ? ', ' : '') . json_encode(['id' => $id] + self::user($id), JSON_UNESCAPED_UNICODE);
        }
        return $text;
    }

    private function locations(int $first, int $last): string
    {
        $text = '';
        for ($id = $first; $id <= $last; $id++) {
            $text .= ($id > $first ? ', ' : '') . json_encode(['id' => $id] + self::location(), JSON_UNESCAPED_UNICODE);
        }
        return $text;
    }

    private function visits(int $first, int $last): string
    {
        $text = '';
        for ($id = $first; $id <= $last; $id++) {
            $text .= ($id > $first ? ', {"user": ' : '{"user": ') . mt_rand(1, $this->users) . ', "location": ' . mt_rand(1, $this->locations)
                . ', "visited_at": ' . mt_rand(...self::VISITS) . ", \"id\": $id, \"mark\": " . mt_rand(0, 5) . '}';
        }
        return $text;
    }

    /** Fields of a random user; the e-mail address follows from the id, and so is nobody else's. */
    public static function user(int $id): array
    {
        $gender = mt_rand(0, 1) ? 'm' : 'f';
        return [
            'first_name' => self::of(self::NAMES[$gender]),
            'last_name' => self::of(self::SURNAME_BEGINS) . self::of(self::SURNAME_MIDDLES) . self::of(self::SURNAME_ENDS) . ($gender === 'f' ? 'а' : ''),
            'email' => self::email($id),
            'gender' => $gender,
            'birth_date' => mt_rand(...self::BIRTHS) * self::DAY,
        ];
    }

    public static function location(): array
    {
        return [
            'place' => self::of(self::PLACES),
            'country' => self::of(self::COUNTRIES),
            'city' => self::of(self::CITY_BEGINS) . self::of(self::CITY_ENDS),
            'distance' => mt_rand(0, 100),
        ];
    }

    public function visit(): array
    {
        return [
            'user' => mt_rand(1, $this->users),
            'location' => mt_rand(1, $this->locations),
            'visited_at' => mt_rand(...self::VISITS),
            'mark' => mt_rand(0, 5),
        ];
    }

    /** Letters that follow from the id, and the id: as long as people's addresses are. */
    private static function email(int $id): string
    {
        return base_convert((string) crc32("mail $id"), 10, 36) . '.' . base_convert((string) $id, 10, 36) . '@' . self::MAILS[$id % count(self::MAILS)];
    }

    private static function of(array $words): string
    {
        return $words[mt_rand(0, count($words) - 1)];
    }
}
