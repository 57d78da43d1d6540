"""What is freed while its connection serves another coroutine: nothing hangs, breaks or leaks on the server."""

from hooks import HookCase, servers

# Every coroutine drops a statement while another one is in a query on the same connection, which they take in turn.
DROPS = """
$lock = new Coroutine\\Lock;
$right = 0;
batch(array_fill(0, 30, function () use ($c, $lock, &$right, $prepare) {
    for ($i = 0; $i < 3; $i++) {
        $n = random_int(1, 1_000_000);
        $lock->lock();
        $right += $prepare($c, $n, $statement) === $n;
        $lock->unlock();
        usleep(500);
        $statement = null;
    }
}));
"""


class Frees(HookCase):
    KINDS = (servers.MariaDB, servers.PostgreSQL, servers.Slow)

    def test_pdo_mysql_leaks_no_statement(self):
        printed = self.inside("""
        $c = pdo_mysql([PDO::ATTR_EMULATE_PREPARES => false]);
        $prepare = function ($c, $n, &$statement) {
            $statement = $c->prepare("SELECT $n, SLEEP(0.002)");
            $statement->execute();
            return (int) $statement->fetch(PDO::FETCH_NUM)[0];
        };
        """ + DROPS + """
        $counts = array_map('intval', $c->query("SHOW SESSION STATUS LIKE 'Com_stmt_%'")->fetchAll(PDO::FETCH_KEY_PAIR));
        // Asking takes a statement, too.
        echo $right, ' ', $counts['Com_stmt_prepare'] - $counts['Com_stmt_close'];
        """, kinds=self.KINDS)
        self.assertEqual(printed, "90 1")

    def test_mysqli_leaks_no_statement(self):
        printed = self.inside("""
        $c = my_sqli();
        $prepare = function ($c, $n, &$statement) {
            $statement = $c->prepare("SELECT $n, SLEEP(0.002)");
            $statement->execute();
            return (int) $statement->get_result()->fetch_row()[0];
        };
        """ + DROPS + """
        $counts = array_map('intval', array_column($c->query("SHOW SESSION STATUS LIKE 'Com_stmt_%'")->fetch_all(), 1, 0));
        echo $right, ' ', $counts['Com_stmt_prepare'] - $counts['Com_stmt_close'];
        """, kinds=self.KINDS)
        self.assertEqual(printed, "90 0")

    def test_pdo_pgsql_goes_on(self):
        printed = self.inside("""
        $c = pdo_pgsql();
        $prepare = function ($c, $n, &$statement) {
            $statement = $c->prepare('SELECT ?::int, pg_sleep(0.002)');
            $statement->execute([$n]);
            return (int) $statement->fetch(PDO::FETCH_NUM)[0];
        };
        """ + DROPS + """
        echo $right, ' ', $c->query('SELECT COUNT(*) FROM pg_prepared_statements')->fetchColumn() <= 1 ? 'none left' : 'some left';
        """, kinds=self.KINDS)
        self.assertEqual(printed, "90 none left")

    def test_a_statement_may_be_freed_when_its_connection_is_given_back(self):
        printed = self.inside("""
        $c = pdo_pgsql();
        $right = 0;
        $given_back = new Coroutine\\Channel(1);
        for ($i = 0; $i < 50; $i++) {
            go(function () use ($c, $i, $given_back, &$right) {
                $statement = $c->prepare('SELECT ?::int');
                $statement->execute([$i]);
                $right += $statement->fetchColumn() === $i;
                $given_back->push(true);
                // The server is told here that the statement is gone, while the connection's next user begins.
            });
            $given_back->pop();
            $next = $c->prepare('SELECT ?::int + 1');
            $next->execute([$i]);
            $right += $next->fetchColumn() === $i + 1;
        }
        $next = null;
        $left = $c->query('SELECT COUNT(*) FROM pg_prepared_statements')->fetchColumn();
        echo $right, ' ', $left <= 1 ? 'none left' : 'some left';
        """, kinds=self.KINDS)
        self.assertEqual(printed, "100 none left")
