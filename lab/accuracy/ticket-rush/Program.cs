using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace TicketRush
{
    // A ticket's bar code, drawn for each request. With a twelfth of these requests it has no
    // trouble: it is sick by what arrives, and FAULT=0 draws small codes.
    public static class Program
    {
        static readonly int Side = Environment.GetEnvironmentVariable("FAULT") == "0" ? 60 : 560;

        public static void Main() => new WebHostBuilder()
            .UseKestrel()
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .Configure(app => app.Use(async (context, next) =>
            {
                if (!context.Request.Path.StartsWithSegments("/ticket", out PathString number))
                    await next();
                else
                    await Draw(context, number.Value);
            }))
            .Build()
            .Run();

        static Task Draw(HttpContext context, string number)
        {
            uint state = 2166136261, dark = 0;
            foreach (char c in number)
                state = (state ^ c) * 16777619;
            for (int y = 0; y < Side; y++)
                for (int x = 0; x < Side; x++)
                {
                    for (int step = 0; step < 8; step++)
                    {
                        state ^= state << 13;
                        state ^= state >> 17;
                        state ^= state << 5;
                    }
                    dark += state & 1;
                }
            return context.Response.WriteAsync(number.Trim('/') + " has " + dark + " dark squares\n");
        }
    }
}
