import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** A cabinet of coins in memory. What was said of a coin is kept for a while, should somebody ask again. */
public class Main {
    /** A coin and what it was sold for. */
    record Coin(String name, TreeMap<Integer, String> sales) {}

    record Opinion(String text, List<String> reasons) {}

    static final int COINS = 20_000, KEPT = 100;
    static final Coin[] coins = new Coin[COINS];
    static final AtomicReferenceArray<Opinion> opinions = new AtomicReferenceArray<>(KEPT);
    static final AtomicInteger given = new AtomicInteger();
    static final ThreadLocal<ByteBuffer> page = ThreadLocal.withInitial(() -> ByteBuffer.allocate(8192));

    public static void main(String[] args) throws IOException {
        for (int i = 0; i < COINS; i++) {
            var sales = new TreeMap<Integer, String>();
            for (int year = 1990; year < 2020; year += 1) sales.put(year, "lot " + i * 31 + year + " for " + (i * 7 + year) % 900 + " crowns, room " + i % 7);
            coins[i] = new Coin("thaler " + i, sales);
        }
        String[] address = System.getenv("ADDR").split(":");
        ServerSocketChannel door = ServerSocketChannel.open().bind(new InetSocketAddress(address[0], Integer.parseInt(address[1])), 256);
        while (true) {
            SocketChannel visitor = door.accept();
            visitor.setOption(StandardSocketOptions.TCP_NODELAY, true);
            new Thread(() -> talk(visitor), "visitor").start();
        }
    }

    static void talk(SocketChannel visitor) {
        StringBuilder said = new StringBuilder();
        try (visitor) {
            while (visitor.read(page.get().clear()) >= 0) {
                said.append(StandardCharsets.ISO_8859_1.decode(page.get().flip()));
                if (said.indexOf("\r\n\r\n") < 0) continue;
                String path = said.substring(4, said.indexOf(" HTTP/"));
                said.setLength(0);
                String body = judge(Integer.parseInt(path.substring(path.lastIndexOf('/') + 1))).text();
                visitor.write(ByteBuffer.wrap(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1)));
            }
        } catch (IOException gone) {
            // the visitor has left
        }
    }

    /** Says what a coin is worth, from the sales of coins like it. */
    static Opinion judge(int number) {
        Coin coin = coins[number % COINS];
        List<String> reasons = new ArrayList<>();
        for (int like = 0; like < 48; like++)
            coins[(number + like * 37) % COINS].sales().forEach((year, sale) -> reasons.add(year + ": " + sale));
        Opinion opinion = new Opinion(coin.name() + ", " + reasons.size() + " sales, best " + reasons.stream().max(String::compareTo).orElse("none") + "\n", reasons);
        opinions.set(given.getAndIncrement() % KEPT, opinion);
        return opinion;
    }
}
