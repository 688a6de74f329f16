package shop;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Quotes are asked for by a record on one topic and answered by a record on another. */
class Quotes {
    static final String REQUESTS = "quote-requests";
    static final String REPLIES = "quote-replies";
    private final KafkaProducer<String, String> producer = new KafkaProducer<>(Main.kafka(), new StringSerializer(), new StringSerializer());
    private final Map<String, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();

    void start() {
        Thread thread = new Thread(this::readReplies, "quote-replies");
        thread.setDaemon(true);
        thread.start();
    }

    String ask(String product) throws ExecutionException, InterruptedException, TimeoutException {
        String id = UUID.randomUUID().toString();
        CompletableFuture<String> reply = new CompletableFuture<>();
        waiting.put(id, reply);
        try {
            producer.send(new ProducerRecord<>(REQUESTS, id, product));
            return reply.get(15, TimeUnit.SECONDS);
        } finally {
            waiting.remove(id);
        }
    }

    private void readReplies() {
        Properties settings = Main.kafka();
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(new TopicPartition(REPLIES, 0)));
            while (true) {
                consumer.poll(Duration.ofSeconds(1)).forEach(record -> {
                    CompletableFuture<String> reply = waiting.get(record.key());
                    if (reply != null) {
                        reply.complete(record.value());
                    }
                });
            }
        }
    }
}
