using System.Net.Http;
using System.Threading.Tasks;

namespace Theatre
{
    // The agency that sells tickets for the theatre, and knows what others ask for a seat.
    public sealed class Agency
    {
        private readonly HttpClient http;

        public Agency(HttpClient http) => this.http = http;

        public Task<string> Offer(int seat) => http.GetStringAsync("/offers/" + seat);
    }
}
