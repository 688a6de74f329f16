import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The archive of photos: 8 ms each. */
public class Photos {
    public static void main(String[] args) throws IOException {
        String[] at = System.getenv("ADDR").split(":");
        ServerSocket door = new ServerSocket(Integer.parseInt(at[1]), 500, InetAddress.getByName(at[0]));
        while (true) {
            Socket desk = door.accept();
            new Thread(null, () -> serve(desk), "photos", 128 << 10).start();
        }
    }

    private static void serve(Socket desk) {
        try (desk) {
            desk.setTcpNoDelay(true);
            BufferedReader in = new BufferedReader(new InputStreamReader(desk.getInputStream()), 256);
            for (String visitor; (visitor = in.readLine()) != null; ) {
                Thread.sleep(8);
                desk.getOutputStream().write(("photo-" + Integer.toHexString(visitor.hashCode()) + "\n").getBytes());
            }
        } catch (IOException | InterruptedException e) {
            // the desk has closed
        }
    }
}
