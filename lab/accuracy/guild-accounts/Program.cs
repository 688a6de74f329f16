using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GuildAccounts
{
    public sealed class Posting
    {
        public readonly string Text;
        public readonly decimal Amount;

        public Posting(string text, decimal amount)
        {
            Text = text;
            Amount = amount;
        }
    }

    // Accounts of a guild's members, in memory.
    public sealed class Book
    {
        public const int Members = 60_000;

        readonly LinkedList<Posting>[] accounts = new LinkedList<Posting>[Members];

        public Book()
        {
            var random = new Random(3);
            for (int member = 0; member < Members; member++)
                accounts[member] = new LinkedList<Posting>();
            for (int n = 0; n < 9; n++)
                foreach (LinkedList<Posting> account in accounts)
                    account.AddLast(new Posting("dues " + random.Next(5000), random.Next(9000) / 100m));
        }

        public IEnumerable<Posting> Of(int member) => accounts[member % Members];
    }

    [ApiController]
    [Route("member")]
    public sealed class MemberController : ControllerBase
    {
        readonly Book book;

        public MemberController(Book book) => this.book = book;

        [HttpGet("{member:int}")]
        public string Balance(int member) => book.Of(member).Sum(posting => posting.Amount) + "\n";
    }

    // Statements of many members at once, as text.
    [ApiController]
    [Route("statement")]
    public sealed class StatementController : ControllerBase
    {
        readonly Book book;

        public StatementController(Book book) => this.book = book;

        [HttpGet("{first:int}")]
        [TidyUp]
        public string Print(int first)
        {
            var page = new StringBuilder();
            for (int member = first; member < first + 200; member++)
                foreach (Posting posting in book.Of(member))
                    page.Append(member).Append(';').Append(posting.Text).Append(';').Append(posting.Amount).Append('\n');
            return page.ToString();
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(new Book());
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
