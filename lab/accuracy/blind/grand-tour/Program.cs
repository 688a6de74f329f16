using System;
using System.Buffers;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GrandTour
{
    // Guides for travellers of the grand tour: the diary of 200,000 days is always in memory, and a guide
    // is drawn on a sheet of two megabytes.
    public static class Program
    {
        const int Sheet = 2_000_000;
        static readonly bool pooled = Environment.GetEnvironmentVariable("FAULT") == "0";
        static readonly List<Day> Diary = Enumerable.Range(0, 200_000).Select(n => new Day(n)).ToList();

        sealed class Day
        {
            public readonly string Town;
            public readonly List<string> Sights = new List<string>();

            public Day(int n)
            {
                Town = "town " + n;
                for (int i = 0; i < 4; i++)
                    Sights.Add("ruin " + n + "." + i);
            }
        }

        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureWebHostDefaults(w => w.UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")).Configure(app => app.Run(Guide)))
            .Build().Run();

        static async Task Guide(HttpContext context)
        {
            int n = context.Request.Path.Value.Length * 31 + (int)(context.Request.Path.GetHashCode() & 0xffff);
            byte[] sheet = pooled ? ArrayPool<byte>.Shared.Rent(Sheet) : new byte[Sheet];
            int inked = Draw(sheet, n);
            if (pooled)
                ArrayPool<byte>.Shared.Return(sheet);
            Day day = Diary[n % Diary.Count];
            await context.Response.WriteAsync(day.Town + ", " + string.Join(", ", day.Sights) + ", " + inked + " dots\n");
        }

        static int Draw(byte[] sheet, int n)
        {
            int inked = 0;
            for (int at = n % 97; at < Sheet; at += 512)
            {
                sheet[at] = (byte)(at ^ n);
                inked++;
            }
            return inked;
        }
    }
}
