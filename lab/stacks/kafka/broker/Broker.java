package broker;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Exit;

/** A Kafka of one node that is its own controller, with a fresh folder for its data. */
public class Broker {
    private static final String SETTINGS = """
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@127.0.0.1:%2$d
        listeners=PLAINTEXT://%1$s,CONTROLLER://127.0.0.1:%2$d
        advertised.listeners=PLAINTEXT://%1$s
        controller.listener.names=CONTROLLER
        log.dirs=kafka-data
        num.network.threads=2
        num.io.threads=4
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=1
        transaction.state.log.replication.factor=1
        transaction.state.log.min.isr=1
        group.initial.rebalance.delay.ms=0
        """;

    private static class Ended extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    public static void main(String[] args) throws IOException {
        Path settings = Path.of("kafka.properties");
        Files.writeString(settings, SETTINGS.formatted(System.getenv("ADDR"), freePort()));
        // The tool that formats the folder ends the program when it is done.
        Exit.setExitProcedure((status, message) -> {
            if (status != 0) {
                System.err.println("kafka-storage: " + status + " " + message);
                System.exit(status);
            }
            throw new Ended();
        });
        try {
            kafka.tools.StorageTool.main(new String[] {"format", "-t", Uuid.randomUuid().toString(), "-c", settings.toString()});
        } catch (Ended e) {
            System.out.println("formatted");
        }
        Exit.resetExitProcedure();
        kafka.Kafka.main(new String[] {settings.toString()});
    }

    private static int freePort() throws IOException {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return one.getLocalPort();
        }
    }
}
