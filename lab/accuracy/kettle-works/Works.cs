using System;
using System.IO;
using System.IO.Compression;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.Hosting;

namespace KettleWorks
{
    // What happens in the works. Requests wait for none of it.
    public sealed class Works : BackgroundService
    {
        readonly ReaderWriterLockSlim anvil = new ReaderWriterLockSlim();
        readonly ManualResetEventSlim evening = new ManualResetEventSlim();
        readonly byte[] book = WriteBook();
        int forged;

        protected override async Task ExecuteAsync(CancellationToken end)
        {
            for (int smith = 0; smith < 10; smith++)
                Start("smith " + smith, Forge);
            for (int stoker = 0; stoker < 40; stoker++)
                Start("stoker " + stoker, evening.Wait);
            Start("archivist", Archive);
            while (!end.IsCancellationRequested)
            {
                await Task.Delay(300, end);
                GC.Collect(0);
            }
        }

        static void Start(string name, Action what) => new Thread(() => what()) { Name = name, IsBackground = true }.Start();

        // Forges kettles; there is one anvil.
        void Forge()
        {
            while (true)
            {
                anvil.EnterWriteLock();
                try
                {
                    Thread.Sleep(12);
                    forged++;
                }
                finally
                {
                    anvil.ExitWriteLock();
                }
                Thread.Sleep(35);
            }
        }

        // Packs the book of the day, a page at a time.
        void Archive()
        {
            using var packed = new MemoryStream(book.Length);
            while (true)
            {
                packed.SetLength(0);
                using (var brotli = new BrotliStream(packed, CompressionLevel.Fastest, leaveOpen: true))
                    for (int page = 0; page < book.Length; page += 200_000)
                    {
                        brotli.Write(book, page, Math.Min(200_000, book.Length - page));
                        Thread.Sleep(4);
                    }
                Thread.Sleep(20);
            }
        }

        static byte[] WriteBook()
        {
            var text = new StringBuilder();
            for (int line = 0; line < 60_000; line++)
                text.Append("kettle ").Append(line).Append(" holds ").Append(line * 7919 % 97).Append(" pints\n");
            return Encoding.ASCII.GetBytes(text.ToString());
        }
    }
}
