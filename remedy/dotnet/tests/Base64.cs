using System;
using System.IO;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using System.Xml;

namespace Unstall.Collections.Tests
{
    static class Base64
    {
        public static long Run(int seed)
        {
            var random = new Random(seed);
            long operations = 0;
            foreach (int length in new[] { 0, 1, 2, 3, 4, 3_071, 3_072, 3_073, 3_074, 6_144, 200_001 })
            {
                var bytes = new byte[length];
                random.NextBytes(bytes);
                string wanted = Convert.ToBase64String(bytes);
                foreach (bool async in new[] { false, true })
                {
                    Check.Equal(wanted, ToText(bytes, random, async), $"text of {length} bytes");
                    Check.Equal(wanted, ToStream(bytes, random, async), $"ASCII of {length} bytes");
                    Check.Equal($"<a>before<b>{wanted}</b>after</a>", ToXml(bytes, random, async), $"XML of {length} bytes");
                    operations += 3 * length;
                }
            }
            Rules();
            return operations;
        }

        // Writes in pieces of any size, by all the ways there are.
        static async Task Pieces(Stream to, byte[] bytes, Random random, bool async)
        {
            for (int i = 0; i < bytes.Length;)
            {
                int n = Math.Min(bytes.Length - i, random.Next(5) == 0 ? random.Next(10_000) : random.Next(20));
                switch (random.Next(async ? 5 : 3))
                {
                    case 0: to.Write(bytes, i, n); break;
                    case 1: to.Write(bytes.AsSpan(i, n)); break;
                    case 2: n = Math.Min(n, 1); if (n == 1) to.WriteByte(bytes[i]); break;
                    case 3: await to.WriteAsync(bytes, i, n); break;
                    case 4: await to.WriteAsync(bytes.AsMemory(i, n)); break;
                }
                i += n;
                if (random.Next(10) == 0) to.Flush();
                if (async && random.Next(10) == 0) await to.FlushAsync();
            }
            if (async) await to.DisposeAsync();
            to.Dispose();
        }

        static string ToText(byte[] bytes, Random random, bool async)
        {
            var text = new StringWriter();
            Pieces(new Base64Stream(text), bytes, random, async).Wait();
            return text.ToString();
        }

        static string ToStream(byte[] bytes, Random random, bool async)
        {
            var stream = new MemoryStream();
            Pieces(new Base64Stream(stream), bytes, random, async).Wait();
            return Encoding.ASCII.GetString(stream.ToArray());
        }

        static string ToXml(byte[] bytes, Random random, bool async)
        {
            var text = new StringWriter();
            using (var writer = XmlWriter.Create(text, new XmlWriterSettings { OmitXmlDeclaration = true, Async = true }))
            {
                writer.WriteStartElement("a");
                writer.WriteString("before");
                writer.WriteStartElement("b");
                Pieces(new Base64Stream(writer), bytes, random, async).Wait();
                writer.WriteFullEndElement();
                writer.WriteString("after");
                writer.WriteEndElement();
            }
            return text.ToString();
        }

        static void Rules()
        {
            var inner = new MemoryStream();
            var stream = new Base64Stream(inner, leaveOpen: false);
            Check.True(stream.CanWrite && !stream.CanRead && !stream.CanSeek, "can write, and nothing else");
            var closed = new MemoryStream();
            closed.Dispose();
            Check.Same("Read", () => throw new NotSupportedException(), () => stream.Read(new byte[1], 0, 1));
            Check.Same("Length", () => throw new NotSupportedException(), () => { _ = stream.Length; });
            Check.Same("Write null", () => inner.Write(null!, 0, 0), () => stream.Write(null!, 0, 0));
            Check.Same("Write from before", () => inner.Write(new byte[1], -1, 1), () => stream.Write(new byte[1], -1, 1));
            Check.Same("Write too much", () => throw new ArgumentException(), () => stream.Write(new byte[1], 0, 2));
            Check.Same("null stream", () => throw new ArgumentNullException(), () => new Base64Stream((Stream)null!).Flush());
            Check.Same("closed stream", () => throw new ArgumentException(), () => new Base64Stream(closed).Flush());
            using (var stop = new CancellationTokenSource())
            {
                stop.Cancel();
                Check.True(stream.WriteAsync(new byte[1], 0, 1, stop.Token).IsCanceled, "a cancelled write");
            }
            stream.Dispose();
            Check.True(!inner.CanWrite && !stream.CanWrite, "closes what it writes to, if told so");
            Check.Same("Write when closed", () => closed.Write(new byte[1], 0, 1), () => stream.Write(new byte[1], 0, 1));
        }
    }
}
