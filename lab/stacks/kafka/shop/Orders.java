package shop;

import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** Orders are published for the warehouse. A customer is told "ordered" when Kafka has the order. */
class Orders {
    static final String TOPIC = "orders";
    private final KafkaProducer<String, String> producer;

    Orders() {
        Properties settings = Main.kafka();
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 20);
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "gzip");
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    void publish(String order) throws ExecutionException, InterruptedException {
        ProducerRecord<String, String> event = new ProducerRecord<>(TOPIC, order, "{\"order\":" + order + ",\"status\":\"placed\",\"note\":\"leave it behind the shed\"}");
        if (Main.fault("send-lock")) {
            publishInOrder(event);
            return;
        }
        producer.send(event).get();
    }

    /** One at a time, so that no order overtakes another. */
    private synchronized void publishInOrder(ProducerRecord<String, String> event) throws ExecutionException, InterruptedException {
        Future<RecordMetadata> sent = producer.send(event);
        sent.get();
    }
}
