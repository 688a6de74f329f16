<?php
// The tills of a chain of shops on PHP-FPM: sessions in files, stock in Redis, a loyalty programme over HTTP.
declare(strict_types=1);

$fault = getenv('FAULT');
[, $what, $id] = explode('/', parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) + ['', '', '0'];
header('Content-Type: application/json');

function stock(string $product): int
{
	[$host, $port] = explode(':', getenv('ADDR_REDIS'));
	$redis = new Redis();
	$redis->pconnect($host, (int) $port, 5.0);
	return (int) $redis->hIncrBy('stock', $product, -1);
}

function loyalty(string $card): array
{
	$answer = file_get_contents('http://' . getenv('ADDR_LOYALTY') . '/points/' . rawurlencode($card));
	return json_decode($answer, true, 8, JSON_THROW_ON_ERROR);
}

switch ($what) {
	case 'stock':
		echo json_encode(['left' => stock($id)]);
		break;
	case 'points':
		echo json_encode(loyalty($id));
		break;
	case 'scan': // an item at a till; the shop's tills share a login, and so a session
		session_start();
		$_SESSION['items'] = ($_SESSION['items'] ?? 0) + 1;
		if ($fault !== 'session-lock') {
			session_write_close();
		}
		echo json_encode(['items' => $_SESSION['items'], 'points' => loyalty($id)]);
		break;
	default:
		http_response_code(404);
}
