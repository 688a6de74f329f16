<?php
// The shop's pages. Each product page reads some ten keys of Redis, one after the other, and keeps the
// visitor's session; what others are asked for, such as what it costs to send things, is waited for.

function store(): Redis {
    static $redis = null;
    if ($redis === null) {
        $redis = new Redis();
        $at = getenv('REDIS');
        if ($at[0] === '/') {
            $redis->pconnect($at);
        } else {
            [$host, $port] = explode(':', $at);
            $redis->pconnect($host, (int)$port);
        }
    }
    return $redis;
}

function session(Redis $r): string {
    if (preg_match('/visitor=([0-9a-f]{1,32})/', $_SERVER['HTTP_COOKIE'] ?? '', $m)) {
        $id = $m[1];
    } else {
        $id = dechex(mt_rand());
        header("Set-Cookie: visitor=$id; Path=/; HttpOnly");
    }
    $r->get("session:$id");
    $r->setex("session:$id", 600, serialize(['seen' => time(), 'from' => $_SERVER['REMOTE_ADDR'] ?? '']));
    return $id;
}

function page(string $title, array $parts): void {
    echo "<!DOCTYPE html><html><head><title>$title</title><link rel=stylesheet href=/static/shop.css></head><body>";
    foreach ($parts as $name => $text) {
        echo '<section id="', htmlspecialchars((string)$name), '">', htmlspecialchars((string)$text), '</section>';
    }
    echo '<img src=/static/logo.png><script src=/static/shop.js></script></body></html>';
}

function product(Redis $r, int $id): void {
    $parts = [];
    foreach (['name', 'price', 'text', 'stock', 'images', 'rating', 'shipping', 'vendor'] as $part) {
        $parts[$part] = $r->get("product:$id:$part");
    }
    $parts['related'] = implode(', ', $r->lRange("product:$id:related", 0, -1));
    session($r);
    page("product $id", $parts);
}

function cart(Redis $r, string $what): void {
    $id = session($r);
    if ($what === 'add') {
        $r->hIncrBy("cart:$id", (string)mt_rand(0, 199), 1);
        $r->expire("cart:$id", 600);
    }
    $lines = $r->hGetAll("cart:$id");
    page('cart', ['lines' => count($lines)]);
}

$path = $_SERVER['SCRIPT_NAME'] ?? '/';
$r = store();
if (preg_match('#^/product/(\d+)$#', $path, $m)) {
    product($r, (int)$m[1] % 200);
} elseif ($path === '/delivery') { // asks the carrier, which takes 40 ms to answer
    usleep(40000);
    session($r);
    page('delivery', ['costs' => '4.90']);
} elseif ($path === '/album') { // pictures of visitors, which may have any size up to 4 MiB
    $sizes = [];
    foreach (glob(__DIR__ . '/photos/*') as $file) {
        $in = fopen($file, 'rb');
        $sizes[basename($file)] = strlen(fread($in, 4 << 20));
        fclose($in);
    }
    session($r);
    page('album', $sizes);
} elseif ($path === '/import') { // large values, each kept somewhere
    $value = str_repeat('0123456789abcdef', 4 << 10);
    $all = (int)$r->get('large');
    for ($i = 0; $i < 8 && $all > 0; $i++) {
        $r->set('page:' . mt_rand(0, $all - 1), $value);
    }
    page('import', ['pages' => 8]);
} elseif ($path === '/backup') { // one is under way mostly
    page('backup', ['begun' => var_export($r->rawCommand('BGSAVE'), true)]);
} elseif ($path === '/store') { // for who looks after the shop
    $info = $r->info();
    $huge = preg_match('/^AnonHugePages: +(\d+) kB/m', @file_get_contents('/proc/' . $info['process_id'] . '/smaps_rollup') ?: '', $m) ? (int)$m[1] : -1;
    header('Content-Type: application/json');
    echo json_encode(['fork_us' => (int)$info['latest_fork_usec'], 'forks' => (int)$info['total_forks'], 'copied' => (int)$info['rdb_last_cow_size'], 'resident' => (int)$info['used_memory_rss'], 'huge_kb' => $huge]);
} elseif ($path === '/cart' || $path === '/cart/add') {
    cart($r, substr($path, 6));
} elseif ($path === '/') {
    $parts = [];
    for ($i = 0; $i < 10; $i++) {
        $parts["product $i"] = $r->get("product:$i:name");
    }
    session($r);
    page('shop', $parts);
} else {
    http_response_code(404);
}
