using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Xml;
using Newtonsoft.Json;

namespace Unstall.Collections.Sample
{
    // An answer of 50,000 orders as JSON in base64 in XML, three times: by way of whole arrays, and streamed by
    // Newtonsoft.Json and by System.Text.Json. Says what each allocated, of that in the large object heap, and fails if
    // the three answers differ or a streamed one put anything there.
    static class Program
    {
        static int Main()
        {
            var orders = new ChunkedList<Order>();
            for (int i = 0; i < 50_000; i++) orders.Add(new Order { Id = i, Customer = "customer " + i % 700, Cents = i * 37 % 10_000 });

            string wanted = Answer("whole arrays", orders, Whole, out _);
            string newtonsoft = Answer("streamed, Newtonsoft.Json", orders, ByNewtonsoft, out long first);
            string system = Answer("streamed, System.Text.Json", orders, BySystemTextJson, out long second);
            bool same = newtonsoft == wanted && system == wanted;
            Console.WriteLine(same ? "all three are the same" : "they differ");
            return same && first == 0 && second == 0 ? 0 : 1;
        }

        // What made gen 2 collections: the JSON as a string, its bytes and the base64 of them are large objects.
        static void Whole(XmlWriter xml, ChunkedList<Order> orders)
        {
            string json = JsonConvert.SerializeObject(orders);
            byte[] bytes = Encoding.UTF8.GetBytes(json);
            xml.WriteString(Convert.ToBase64String(bytes));
        }

        // Newtonsoft.Json writes text: a StreamWriter without a byte order mark makes bytes of it.
        static void ByNewtonsoft(XmlWriter xml, ChunkedList<Order> orders)
        {
            using var base64 = new Base64Stream(xml);
            using var text = new StreamWriter(base64, new UTF8Encoding(false), 1024);
            using var json = new JsonTextWriter(text);
            JsonSerializer.CreateDefault().Serialize(json, orders);
        }

        // System.Text.Json writes to a stream when asked to with SerializeAsync, which wants a writer that allows await;
        // synchronously it has a buffer, so elements are written one by one and flushed now and then.
        static void BySystemTextJson(XmlWriter xml, ChunkedList<Order> orders)
        {
            using var base64 = new Base64Stream(xml);
            using var json = new System.Text.Json.Utf8JsonWriter(base64);
            json.WriteStartArray();
            foreach (Order order in orders)
            {
                System.Text.Json.JsonSerializer.Serialize(json, order);
                if (json.BytesPending > 16_000) json.Flush();
            }
            json.WriteEndArray();
        }

        static string Answer(string name, ChunkedList<Order> orders, Action<XmlWriter, ChunkedList<Order>> write, out long large)
        {
            Send(write, orders, Stream.Null); // what is made once
            long allocated = GC.GetAllocatedBytesForCurrentThread();
            using (var watch = new LargeObjects())
            {
                Send(write, orders, Stream.Null);
                allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
                large = watch.Stop();
            }
            Console.WriteLine($"{name}: allocated {allocated / 1024:N0} KB, {large} times in the large object heap");
            var kept = new MemoryStream();
            Send(write, orders, kept);
            return Encoding.UTF8.GetString(kept.ToArray());
        }

        static void Send(Action<XmlWriter, ChunkedList<Order>> write, ChunkedList<Order> orders, Stream to)
        {
            using XmlWriter xml = XmlWriter.Create(to);
            xml.WriteStartElement("answer");
            write(xml, orders);
            xml.WriteEndElement();
        }
    }

    sealed class Order
    {
        public int Id { get; set; }
        public string Customer { get; set; } = "";
        public int Cents { get; set; }
    }
}
