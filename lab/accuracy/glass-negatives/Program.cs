using System;
using System.Buffers;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GlassNegatives
{
    // A negative in the index of the archive, with the one that was taken before it.
    public sealed class Negative
    {
        public string Title;
        public int[] Crop;
        public Negative Before;
    }

    public static class Program
    {
        const int Side = 1750;

        static readonly bool pooled = Environment.GetEnvironmentVariable("FAULT") == "0";
        static readonly ArrayPool<byte> sheets = ArrayPool<byte>.Create(4 << 20, 8);
        static readonly Negative[] index = new Negative[700_000];

        public static Task Main()
        {
            for (int i = 0; i < index.Length; i++)
                index[i] = new Negative { Title = "plate " + i, Crop = new[] { i % 90, i % 70 }, Before = i > 600 ? index[i - 600] : null };
            return new HostBuilder()
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHost(web => web
                    .UseKestrel()
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app =>
                    {
                        app.Map("/negative", at => at.Run(c => c.Response.WriteAsync(index[Number(c)].Title)));
                        app.Map("/print", at => at.Run(Print));
                    }))
                .Build()
                .RunAsync();
        }

        static int Number(HttpContext c) => int.Parse(c.Request.Path.Value.Trim('/')) % index.Length;

        static Task Print(HttpContext c)
        {
            Negative negative = index[Number(c)];
            byte[] sheet = pooled ? sheets.Rent(Side * Side) : null;
            byte[] print = Develop(negative, sheet);
            int dark = 0;
            for (int i = 0; i < Side * Side; i += 97)
                if (print[i] < 40)
                    dark++;
            if (pooled)
                sheets.Return(sheet);
            return c.Response.WriteAsync(negative.Title + ": " + dark + " dark points");
        }

        // Develop lays the shades of a negative on a sheet, or on a new one.
        static byte[] Develop(Negative negative, byte[] sheet)
        {
            sheet = sheet ?? new byte[Side * Side];
            byte shade = (byte)negative.Title.Length;
            for (int row = 0; row < Side; row++)
                sheet.AsSpan(row * Side, Side).Fill((byte)(shade + row * negative.Crop[0] / 50));
            return sheet;
        }
    }
}
